import { DTYPE_BITS, type Dtype } from "@/server/compute/safetensors/dtypes";

/** A header without its length, and the data behind it. */
export type FileParts = { header: Buffer; data: Buffer };

/** Name, dtype and shape of a tensor. */
export type TensorEntry = [name: string, dtype: Dtype, shape: number[]];

/** Joins a length prefix, the header and the data. */
export function safetensorsFile({ header, data }: FileParts): Buffer {
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([prefix, header, data]);
}

/** Lays tensors out one behind the other, with data that repeats a pattern. */
export function headerOf(
  metadata: Record<string, string>,
  tensors: readonly TensorEntry[],
  write: (header: Record<string, unknown>) => string = JSON.stringify,
): FileParts {
  let end = 0;
  const entries = tensors.map(([name, dtype, shape]) => {
    const begin = end;
    end += (shape.reduce((product, size) => product * size, 1) * DTYPE_BITS[dtype]) / 8;
    return [name, { dtype, shape, data_offsets: [begin, end] }] as const;
  });
  const named = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  const header = Buffer.from(write({ ...named, ...Object.fromEntries(entries) }));
  return { header, data: Buffer.alloc(end, "Capstan weighs no weights. ") };
}

/** Pairs of small matrices for these modules, in a maker's naming. */
export function loraHeader({
  maker,
  modules = ["lora_unet_double_blocks_0_img_attn_qkv", "lora_unet_single_blocks_37_linear1"],
  rank = 2,
  inputs = 4,
  outputs = 4,
  dtype = "F16",
  metadata = { format: "pt" },
}: {
  maker: "kohya" | "peft" | "diffusers" | "xlabs";
  modules?: string[];
  rank?: number;
  inputs?: number;
  outputs?: number;
  dtype?: Dtype;
  metadata?: Record<string, string>;
}): FileParts {
  const names = {
    kohya: ["lora_down.weight", "lora_up.weight"],
    peft: ["lora_A.weight", "lora_B.weight"],
    diffusers: ["lora.down.weight", "lora.up.weight"],
    xlabs: ["down.weight", "up.weight"],
  }[maker];
  const tensors = modules.flatMap((module): TensorEntry[] => [
    ...(maker === "kohya" ? [[`${module}.alpha`, dtype, []] satisfies TensorEntry] : []),
    [`${module}.${names[0]}`, dtype, [rank, inputs]],
    [`${module}.${names[1]}`, dtype, [outputs, rank]],
  ]);
  return headerOf(metadata, tensors);
}
