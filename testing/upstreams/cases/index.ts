import type { UpstreamCase } from "../upstream";
import { DOORS } from "./doors";
import { ENDS } from "./ends";
import { GEMINI } from "./gemini";
import { MESSAGES } from "./messages";
import { MONEY } from "./money";
import { RESPONSES } from "./responses";

export const CASES: readonly UpstreamCase[] = [
  ...ENDS,
  ...MONEY,
  ...RESPONSES,
  ...MESSAGES,
  ...GEMINI,
  ...DOORS,
];
