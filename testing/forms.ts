import { ulid } from "@/server/platform/ids";
import { loraHeader, safetensorsFile } from "@/testing/corpora/safetensors/parts";

/** A multipart form as it is sent. */
export class Form {
  readonly contentType: string;
  readonly bytes: Buffer;
  constructor(parts: readonly Part[], boundary = `----capstan${ulid()}`) {
    this.contentType = `multipart/form-data; boundary=${boundary}`;
    const pieces = parts.flatMap(([name, value]) => {
      const isText = typeof value === "string";
      const file = isText ? "" : `; filename="${value.filename}"\r\nContent-Type: application/octet-stream`;
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
      return [Buffer.from(head), isText ? Buffer.from(value) : value.bytes, Buffer.from("\r\n")];
    });
    this.bytes = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
  }
}

/** A field, or a file. */
export type Part = readonly [name: string, value: string | { filename: string; bytes: Uint8Array }];

/** The part of a form that has the weights. */
export const weightsPart = (bytes: Uint8Array, filename = "lora.safetensors"): Part => [
  "file",
  { filename, bytes },
];

/** Unique LoRA weights of FLUX, whose metadata have trigger words. */
export const someWeights = (metadata: Record<string, string> = {}): Buffer =>
  safetensorsFile(
    loraHeader({
      maker: "kohya",
      metadata: {
        "modelspec.architecture": "flux-1-dev/lora",
        "modelspec.trigger_phrase": "mossy stone, wet light",
        "modelspec.license": "Apache-2.0",
        note: ulid(),
        ...metadata,
      },
    }),
  );

/** LoRA weights of about this many megabytes, the same for the same seed. */
export const manyWeights = (seed: string, megabytes: number): Buffer =>
  safetensorsFile(
    loraHeader({
      maker: "kohya",
      modules: ["lora_unet_double_blocks_0_img_attn_qkv"],
      rank: 16,
      inputs: megabytes * 16_384,
      outputs: megabytes * 16_384,
      metadata: { seed, "modelspec.architecture": "flux-1-dev/lora" },
    }),
  );

/** A form that uploads an adapter under a new name. */
export const uploadOf = (bytes: Uint8Array = someWeights(), fields: Record<string, string> = {}): Form =>
  new Form([...Object.entries({ displayName: `Adapter ${ulid()}`, ...fields }), weightsPart(bytes)]);

/** A white PNG of 256 x 256 pixels. */
export const whiteSquare = (): Buffer =>
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAQAAAAEAAQMAAABmvDolAAAAA1BMVEX///+nxBvIAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAH0lEQVRo3u3BAQ0AAADCoPdPbQ43oAAAAAAAAAAAvg0hAAABfxmcpwAAAABJRU5ErkJggg==",
    "base64",
  );
