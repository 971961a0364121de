import type { PinnedCorrectionView } from "@/server/contract/pinned-records";
import { canonicalText } from "@/server/platform/text/canonical";
import { type Signed, signBody } from "./keys";

/** Signs what became known of a record after its end, as it is shown: the record's own seal does not cover it. */
export function signCorrection(shown: Omit<PinnedCorrectionView, "signature">): Promise<Signed> {
  return signBody(canonicalText(shown));
}
