import { serve } from "@/server/api/next";
import {
  clearAdapterDefault,
  getAdapterDefault,
  setAdapterDefault,
} from "@/server/operations/adapter-aliases";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  clearAdapterDefault,
  getAdapterDefault,
  setAdapterDefault,
);
