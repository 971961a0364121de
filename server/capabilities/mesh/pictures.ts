import { processImage } from "@/server/compute/imaging";
import type { ProviderFile } from "@/server/providers/define";
import { CapabilityFault, type Source, type SourceFile } from "../define";

/** Types of pictures that meshes are made from. */
export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
/** Providers receive the pictures inside the request, several in one. */
export const MAX_MESH_PICTURE_BYTES = 8 * 1024 * 1024;

/** A picture that the input names in this field. */
export const pictureAt = (artifactId: string, field: Source["field"]): Source => ({
  artifactId,
  field,
  mediaTypes: PICTURE_TYPES,
  maxBytes: MAX_MESH_PICTURE_BYTES,
});

/** The picture for a provider: WebP becomes PNG, because not all providers read WebP. */
export async function toPicture({ bytes, mediaType, artifactId }: SourceFile): Promise<ProviderFile> {
  if (mediaType !== "image/webp") return { bytes, mediaType };
  try {
    const { png } = await processImage(bytes, { matte: null, report: false, sheet: null });
    return { bytes: png, mediaType: "image/png" };
  } catch {
    throw new CapabilityFault("InvalidInput", `The picture ${artifactId} cannot be read.`);
  }
}
