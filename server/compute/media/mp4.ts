/** Facts from the index of an MP4 file, sizes in pixels; null if the file does not have them. */
export type VideoFacts = { durationMs: number | null; width: number | null; height: number | null };

type Box = { name: string; from: number; to: number };

/** Reads the `moov` box; without one all facts are null. The size is that of the first track that has one. */
export function measureMp4(bytes: Uint8Array): VideoFacts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const movie = boxesIn(view, 0, view.byteLength).find(({ name }) => name === "moov");
  if (!movie) return { durationMs: null, width: null, height: null };
  const inside = boxesIn(view, movie.from, movie.to);
  const header = inside.find(({ name }) => name === "mvhd");
  const sizes = inside
    .filter(({ name }) => name === "trak")
    .flatMap((track) => boxesIn(view, track.from, track.to).filter(({ name }) => name === "tkhd"))
    .map((track) => sizeIn(view, track))
    .filter(({ width, height }) => width > 0 && height > 0);
  return {
    durationMs: header ? durationIn(view, header) : null,
    width: sizes[0]?.width ?? null,
    height: sizes[0]?.height ?? null,
  };
}

/** The boxes of a range, up to the first incomplete one. */
function boxesIn(view: DataView, from: number, to: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= to; ) {
    const short = view.getUint32(at);
    const isLong = short === 1 && at + 16 <= to;
    const size = isLong ? Number(view.getBigUint64(at + 8)) : short === 0 ? to - at : short;
    const head = isLong ? 16 : 8;
    if (size < head || at + size > to) break;
    const name = String.fromCharCode(...[4, 5, 6, 7].map((place) => view.getUint8(at + place)));
    boxes.push({ name, from: at + head, to: at + size });
    at += size;
  }
  return boxes;
}

function durationIn(view: DataView, { from, to }: Box): number | null {
  const isLong = to > from && view.getUint8(from) === 1;
  if (to - from < (isLong ? 32 : 20)) return null;
  const ticks = view.getUint32(from + (isLong ? 20 : 12));
  const duration = isLong ? Number(view.getBigUint64(from + 24)) : view.getUint32(from + 16);
  const durationMs = Math.round((duration / ticks) * 1_000);
  return ticks > 0 && duration > 0 && Number.isSafeInteger(durationMs) ? durationMs : null;
}

/** Reads the fixed-point size at the end of a track's header; zeros if the header is too short. */
function sizeIn(view: DataView, { from, to }: Box): { width: number; height: number } {
  if (to - from < 84) return { width: 0, height: 0 };
  return { width: view.getUint32(to - 8) >>> 16, height: view.getUint32(to - 4) >>> 16 };
}

/** Length for billing in ms: whole seconds, at least one, as vendors sell videos. Null if the file has no duration. */
export function billedMs(bytes: Uint8Array): number | null {
  const { durationMs } = measureMp4(bytes);
  return durationMs === null ? null : Math.max(1, Math.round(durationMs / 1_000)) * 1_000;
}
