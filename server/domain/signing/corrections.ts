import { canonicalText } from "@/server/canonical";
import type { PinnedCorrectionView } from "@/server/contract/pinned";
import { type Signed, signBody } from "./keys";

/** Signs what became known of a record after its end, as it is shown: the record's own seal does not cover it. */
export function signCorrection(shown: Omit<PinnedCorrectionView, "signature">): Promise<Signed> {
  return signBody(canonicalText(shown));
}
