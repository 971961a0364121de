import type { PinnedCorrectionView } from "@/server/contract/pinned-records";
import { canonicalText } from "@/server/platform/text/canonical";
import { type Signed, signBody } from "./keys";

/**
 * Signs a correction of a record in the form that is shown. The record's own seal does not cover later
 * corrections.
 */
export function signCorrection(shown: Omit<PinnedCorrectionView, "signature">): Promise<Signed> {
  return signBody(canonicalText(shown));
}
