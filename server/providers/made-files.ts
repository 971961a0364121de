import { billedMs } from "@/server/compute/media/mp4";
import { isCount } from "./counts";
import type { ImageResult, ProviderAccount, Usage, VideoResult } from "./define";
import { getFile } from "./get-file";

/* Pictures and videos that a vendor has made and names by their addresses: fetched at once. */

const MOST_IMAGE_BYTES = 64 * 1024 * 1024;
const MOST_VIDEO_BYTES = 256 * 1024 * 1024;

/** A file by its address. `type`: what the vendor calls it, null where it could and does not; absent: as it is served. */
export type MadeFile = { url: string; type?: string | null };
type Io = Pick<ProviderAccount, "signal" | "allowPrivateAddresses">;

/** The pictures, in their order. */
export async function fetchImages(files: MadeFile[], io: Io): Promise<ImageResult> {
  const fetched = await Promise.all(
    files.map(({ url }) => getFile(url, io, { maxResponseBytes: MOST_IMAGE_BYTES })),
  );
  return {
    images: fetched.map(({ bytes, mediaType }, index) => ({
      bytes,
      mediaType: typeOf(files[index]?.type, mediaType, "image/png"),
    })),
  };
}

/** A video and what was used for it: its length, which the file is asked for; null where it does not tell. */
export async function fetchVideo(
  file: MadeFile,
  io: Io,
): Promise<{ result: VideoResult; usage: Usage | null }> {
  const { bytes, mediaType } = await getFile(file.url, io, { maxResponseBytes: MOST_VIDEO_BYTES });
  const durationMs = billedMs(bytes);
  return {
    result: { videos: [{ bytes, mediaType: typeOf(file.type, mediaType, "video/mp4") }] },
    usage: isCount(durationMs) ? { durationMs } : null,
  };
}

/** The word for what a file is, where it is one. */
function typeOf(declared: string | null | undefined, served: string, usual: string): string {
  const type = declared === undefined ? served : (declared ?? "");
  return /^(image|video)\/[a-z0-9]+$/.test(type) ? type : usual;
}
