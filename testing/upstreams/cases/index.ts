import type { UpstreamCase } from "../upstream";
import { ENDS } from "./ends";
import { MONEY } from "./money";

export const CASES: readonly UpstreamCase[] = [...ENDS, ...MONEY];
