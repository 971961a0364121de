/* What the head of a picture file says of it. Nothing is decoded. */

export type PictureHead = {
  mediaType: "image/png" | "image/jpeg" | "image/webp";
  width: number;
  height: number;
  hasAlpha: boolean;
};

/** What the first bytes of a file are read for; sizes stand there, whatever lies before them. */
const HEAD_CHARACTERS = 1_400_000;

/** The head of a picture in base64; null: not a PNG, JPEG or WebP, or cut off before its size. */
export function readPictureHead(base64: string): PictureHead | null {
  try {
    const bytes = Uint8Array.from(atob(base64.slice(0, HEAD_CHARACTERS)), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return readPng(view) ?? readJpeg(view) ?? readWebp(view);
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof DOMException) return null; // cut off, or no base64
    throw cause;
  }
}

const wordAt = (view: DataView, at: number) =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));

function readPng(view: DataView): PictureHead | null {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || wordAt(view, 12) !== "IHDR")
    return null;
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const color = view.getUint8(25);
  const hasAlpha = color === 4 || color === 6 || hasTransparentColor(view);
  return { mediaType: "image/png", width, height, hasAlpha };
}

/** Colours without an alpha channel may still be told to be clear, in a chunk before the pixels. */
function hasTransparentColor(view: DataView): boolean {
  for (let at = 33; at + 8 <= view.byteLength; at += view.getUint32(at) + 12) {
    const name = wordAt(view, at + 4);
    if (name === "tRNS") return true;
    if (name === "IDAT" || name === "IEND") return false;
  }
  return false;
}

function readJpeg(view: DataView): PictureHead | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1; // fill bytes
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return {
        mediaType: "image/jpeg",
        height: view.getUint16(at + 5),
        width: view.getUint16(at + 7),
        hasAlpha: false,
      };
    if (marker === 0xda || marker === 0xd9) return null; // pixels, or the end, before any size
    at += 2 + view.getUint16(at + 2);
  }
}

function readWebp(view: DataView): PictureHead | null {
  if (wordAt(view, 0) !== "RIFF" || wordAt(view, 8) !== "WEBP") return null;
  const mediaType = "image/webp" as const;
  switch (wordAt(view, 12)) {
    case "VP8X": {
      const edge = (at: number) => 1 + view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
      return { mediaType, width: edge(24), height: edge(27), hasAlpha: (view.getUint8(20) & 0x10) !== 0 };
    }
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return {
        mediaType,
        width: 1 + (bits & 0x3fff),
        height: 1 + ((bits >>> 14) & 0x3fff),
        hasAlpha: ((bits >>> 28) & 1) === 1,
      };
    }
    case "VP8 ":
      return {
        mediaType,
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
        hasAlpha: false,
      };
    default:
      return null;
  }
}
