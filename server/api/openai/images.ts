import type { Job } from "@/server/contract/jobs";
import type { ImagesEditFields, ImagesRequest, ImagesResponse } from "@/server/contract/openai-media";
import { type Fields, MODEL_FIELDS } from "./fields";
import { submittedAt } from "./finished";
import type { FormFiles } from "./form";

/* POST /v1/images/generations and /v1/images/edits: convert their requests to inputs, and a job's images to their response. */

const DRAWING_FIELDS: Fields = {
  ...MODEL_FIELDS,
  "input.prompt": "prompt",
  "input.width": "size",
  "input.height": "size",
  "input.size": "size",
  "input.quality": "quality",
  "input.variantCount": "n",
};
export const GENERATION_FIELDS = DRAWING_FIELDS;
export const EDIT_FIELDS: Fields = {
  ...DRAWING_FIELDS,
  "input.sourceImage": "image",
  "input.referenceImages": "image",
  "input.mask": "mask",
};

type Drawing = Pick<ImagesRequest, "prompt" | "n" | "size" | "quality" | "background">;

const toDrawing = ({ prompt, n, size, quality, background }: Drawing) => ({
  prompt,
  ...(n ? { variantCount: n } : {}),
  ...(size && size !== "auto" ? toSize(size) : {}),
  ...(quality ? { quality: quality === "hd" ? "high" : quality } : {}),
  ...(background === "transparent" ? { requestTransparentOutput: true } : {}),
});

function toSize(size: string) {
  const [width, height] = size.split("x").map(Number);
  return { width, height };
}

export const toGenerationInput = (request: ImagesRequest) => toDrawing(request);

export const toEditInput = (request: ImagesEditFields, { images: [source, ...others], mask }: FormFiles) => ({
  ...toDrawing(request),
  sourceImage: source,
  ...(others.length > 0 ? { referenceImages: others } : {}),
  ...(mask ? { mask } : {}),
});

export function toImagesResponse(
  { response_format, background }: Pick<ImagesRequest, "response_format" | "background">,
  job: Job,
  files: { bytes: Buffer; mediaType: string }[],
): ImagesResponse {
  const [first] = (job.typedOutput as { images?: { width: number; height: number }[] } | null)?.images ?? [];
  return {
    created: submittedAt(job),
    data: files.map(({ bytes, mediaType }) => {
      const base64 = bytes.toString("base64");
      return response_format === "url" ? { url: `data:${mediaType};base64,${base64}` } : { b64_json: base64 };
    }),
    background: background === "transparent" ? "transparent" : "opaque",
    output_format: files[0]?.mediaType.replace("image/", "") ?? "png",
    ...(first ? { size: `${first.width}x${first.height}` } : {}),
  };
}
