import type { UpstreamCase } from "../upstream";
import { ENDS } from "./ends";

export const CASES: readonly UpstreamCase[] = [...ENDS];
