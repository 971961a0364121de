import type { ProviderFile } from "@/server/providers/define";
import type { Source, SourceFile } from "../define";

/** What meshes are made from. */
export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp"] as const;
/** Pictures go to providers in the request itself, several in one. */
export const MOST_PICTURE_BYTES = 8 * 1024 * 1024;

/** A picture the input names at this field. */
export const pictureAt = (artifactId: string, field: string[]): Source => ({
  artifactId,
  field,
  mediaTypes: PICTURE_TYPES,
  maxBytes: MOST_PICTURE_BYTES,
});

export const toPicture = ({ bytes, mediaType }: SourceFile): ProviderFile => ({ bytes, mediaType });
