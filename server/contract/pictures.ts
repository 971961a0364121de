/*
 * Reads format and size from the head of a picture file. It decodes no pixels, and only the parts of the base64 that it
 * needs.
 */

export type PictureHead = {
  mediaType: "image/png" | "image/jpeg" | "image/webp";
  width: number;
  height: number;
  hasAlpha: boolean;
};

/** The size must appear within this many bytes from the beginning of the file. */
const HEAD_BYTES = 1_050_000;
/** Bytes decoded at a time; a multiple of three, so that pieces align with base64. */
const PIECE_BYTES = 3_072;

/** The head of a picture in base64; null if the file is no PNG, JPEG or WebP, or ends before its size. */
export function readPictureHead(base64: string): PictureHead | null {
  try {
    const file = new Head(base64);
    return readPng(file) ?? readJpeg(file) ?? readWebp(file);
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof DOMException) return null; // truncated, or not base64
    throw cause;
  }
}

const heads = new WeakMap<object, PictureHead | null>();

/** The head of a picture in a parsed input, cached for repeated calls. */
export function headOf(image: { dataBase64: string }): PictureHead | null {
  let head = heads.get(image);
  if (head === undefined) {
    head = readPictureHead(image.dataBase64);
    heads.set(image, head);
  }
  return head;
}

/** The first bytes of a base64 file, decoded on demand. Reading beyond them throws a RangeError. */
class Head {
  readonly length: number;
  private piece = "";
  private start = -1;

  constructor(private readonly base64: string) {
    const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
    this.length = Math.min(HEAD_BYTES, Math.floor((base64.length * 3) / 4) - padding);
  }

  uint8(at: number): number {
    if (at >= this.length) throw new RangeError("beyond the head");
    const start = at - (at % PIECE_BYTES);
    if (start !== this.start) {
      const from = (start / 3) * 4;
      this.piece = atob(this.base64.slice(from, from + (PIECE_BYTES / 3) * 4));
      this.start = start;
    }
    return this.piece.charCodeAt(at - start);
  }

  uint16(at: number): number {
    return this.uint8(at) * 0x100 + this.uint8(at + 1);
  }

  uint16Reversed(at: number): number {
    return this.uint8(at + 1) * 0x100 + this.uint8(at);
  }

  uint32(at: number): number {
    return this.uint16(at) * 0x1_0000 + this.uint16(at + 2);
  }

  word(at: number): string {
    return String.fromCharCode(this.uint8(at), this.uint8(at + 1), this.uint8(at + 2), this.uint8(at + 3));
  }
}

function readPng(file: Head): PictureHead | null {
  if (file.uint32(0) !== 0x89504e47 || file.uint32(4) !== 0x0d0a1a0a || file.word(12) !== "IHDR") return null;
  const [width, height] = [file.uint32(16), file.uint32(20)];
  const color = file.uint8(25);
  const hasAlpha = color === 4 || color === 6 || hasTransparentColor(file);
  return { mediaType: "image/png", width, height, hasAlpha };
}

/** Color types without an alpha channel can still declare a transparent color, in a chunk before the pixels. */
function hasTransparentColor(file: Head): boolean {
  for (let at = 33; at + 8 <= file.length; at += file.uint32(at) + 12) {
    const name = file.word(at + 4);
    if (name === "tRNS") return true;
    if (name === "IDAT" || name === "IEND") return false;
  }
  return false;
}

function readJpeg(file: Head): PictureHead | null {
  if (file.uint16(0) !== 0xffd8) return null;
  for (let at = 2; ; ) {
    if (file.uint8(at) !== 0xff) return null;
    const marker = file.uint8(at + 1);
    if (marker === 0xff) {
      at += 1; // fill bytes
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return {
        mediaType: "image/jpeg",
        height: file.uint16(at + 5),
        width: file.uint16(at + 7),
        hasAlpha: false,
      };
    if (marker === 0xda || marker === 0xd9) return null; // pixels or end of image before any size
    at += 2 + file.uint16(at + 2);
  }
}

function readWebp(file: Head): PictureHead | null {
  if (file.word(0) !== "RIFF" || file.word(8) !== "WEBP") return null;
  const mediaType = "image/webp" as const;
  switch (file.word(12)) {
    case "VP8X": {
      const edge = (at: number) => 1 + file.uint16Reversed(at) + (file.uint8(at + 2) << 16);
      return { mediaType, width: edge(24), height: edge(27), hasAlpha: (file.uint8(20) & 0x10) !== 0 };
    }
    case "VP8L": {
      const bits = file.uint16Reversed(21) + file.uint16Reversed(23) * 0x1_0000;
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
        width: file.uint16Reversed(26) & 0x3fff,
        height: file.uint16Reversed(28) & 0x3fff,
        hasAlpha: false,
      };
    default:
      return null;
  }
}
