import type { UpstreamCase } from "../upstream";
import { DOORS } from "./doors";
import { ENDS } from "./ends";
import { ERRORS } from "./errors";
import { GEMINI } from "./gemini";
import { LIMITS } from "./limits";
import { MESSAGES } from "./messages";
import { MONEY } from "./money";
import { RESPONSES } from "./responses";

export const CASES: readonly UpstreamCase[] = [
  ...ENDS,
  ...ERRORS,
  ...LIMITS,
  ...MONEY,
  ...RESPONSES,
  ...MESSAGES,
  ...GEMINI,
  ...DOORS,
];
