const ENDINGS: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "video/mp4": "mp4",
  "model/gltf-binary": "glb",
  "application/json": "json",
  "text/plain": "txt",
};

/** What a file of an entry of a comparison is called until that is judged: by its place alone, since its own name may betray who made it. */
export function entryFilename(place: number | null, mediaType: string): string {
  const type = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return `entry${place === null ? "" : `-${place}`}.${ENDINGS[type] ?? "bin"}`;
}
