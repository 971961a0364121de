import { serve } from "@/server/api/endpoint";
import { bindRecipe } from "@/server/api/v1/adapter-aliases";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(bindRecipe);
