import { billedMs } from "@/server/compute/media/mp4";
import { isCount } from "./counts";
import type { ImageResult, ProviderAccount, Usage, VideoResult } from "./define";
import { getFile } from "./get-file";

/* Downloads pictures and videos that a vendor has made and names by URL. */

const MOST_IMAGE_BYTES = 64 * 1024 * 1024;
const MOST_VIDEO_BYTES = 256 * 1024 * 1024;

/**
 * A file by its URL. `type` is the vendor's media type: null if the vendor names none, absent to use the type it is
 * served with.
 */
export type MadeFile = { url: string; type?: string | null };
type Io = Pick<ProviderAccount, "signal" | "allowPrivateAddresses">;

/** Downloads the pictures, in order. */
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

/** Downloads a video. The usage has the length measured in the file; it is null if the file does not state one. */
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

/**
 * The media type of a picture or video: the declared one, or the served one if `declared` is undefined. The usual one
 * if that is missing or of another kind.
 */
function typeOf(declared: string | null | undefined, served: string, usual: string): string {
  const type = declared === undefined ? served : (declared ?? "");
  return /^(image|video)\/[a-z0-9]+$/.test(type) ? type : usual;
}
