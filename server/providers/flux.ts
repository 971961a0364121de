import { type ImageCall, type ModelFacts, type Price, refuseCall } from "./define";

/* Facts that FLUX has at every vendor. */

/** Inference steps per picture; the price does not depend on them. */
const STEPS = { low: 16, medium: 28, standard: 28, high: 44 } as const;

/** The request member for the number of steps; none for `auto`. */
export const stepsOf = ({ quality }: ImageCall) =>
  quality === "auto" ? {} : { num_inference_steps: STEPS[quality] };

/** Refuses options that FLUX does not have, and those that this model does not support. */
export function requireImageSupport(call: ImageCall, { supports }: ModelFacts): void {
  if (call.source && !supports.edit) refuseCall("This model does not support image editing.");
  if (call.mask) refuseCall("This model does not support masks.");
  if (call.referenceImages.length > 0) refuseCall("This model does not support reference images.");
  if (call.transparent) refuseCall("This model does not support transparent backgrounds.");
  if (call.adapters?.length && !supports.adapters) refuseCall("This model does not support LoRA weights.");
}

/** A price that depends only on the size, in micros of a US dollar. */
export const priceBySize = <S extends { width: number; height: number }>(
  sizes: S[],
  microsOf: (size: S) => number,
): Price => ({
  per: "image",
  sizes: sizes.map((size) => {
    const each = microsOf(size);
    const { width, height } = size;
    return { width, height, micros: { low: each, medium: each, standard: each, high: each } };
  }),
});
