/** Limits of a safetensors file. */
export const SAFETENSORS_LIMITS = {
  fileBytes: 2 * 1024 ** 3,
  headerBytes: 16 * 1024 ** 2,
  tensors: 50_000,
  metadataEntries: 10_000,
  /** UTF-8 bytes of a tensor's name or a metadata key. */
  nameBytes: 1024,
  dimensions: 32,
} as const;

/** Every rule that a file can break, by its stable name. */
export const RULES = {
  file_too_short: "A file starts with eight bytes that give the length of its header.",
  file_too_large: "The file, or the data its header declares, is too large.",
  header_empty: "The header has at least one byte.",
  header_too_large: `The header has at most ${SAFETENSORS_LIMITS.headerBytes} bytes.`,
  header_truncated: "The file contains its whole header.",
  header_first_byte: "The first byte of the header is '{'.",
  header_utf8: "The header is valid UTF-8.",
  header_json: "The header is one JSON object.",
  header_padding: "After the closing brace of the header there are only spaces.",
  lone_surrogate: "Escapes in strings are whole characters: no half of a surrogate pair.",
  duplicate_key: "No key occurs twice in one object.",
  metadata_type: "__metadata__ is one object of strings.",
  metadata_key: `A metadata key has 1 to ${SAFETENSORS_LIMITS.nameBytes} bytes, no control characters, and is not __proto__.`,
  metadata_too_many: `__metadata__ has at most ${SAFETENSORS_LIMITS.metadataEntries} entries.`,
  too_many_tensors: `The header lists at most ${SAFETENSORS_LIMITS.tensors} tensors.`,
  no_tensors: "The header lists at least one tensor.",
  tensor_name: `A tensor's name has 1 to ${SAFETENSORS_LIMITS.nameBytes} bytes, no control characters, no '/' and no '\\', and is not __proto__.`,
  entry_type: "A tensor is an object with a dtype string and arrays of integers as shape and data_offsets.",
  entry_field_unknown: "A tensor has only the fields dtype, shape and data_offsets.",
  entry_field_missing: "A tensor has all three fields: dtype, shape and data_offsets.",
  dtype_unknown: "The dtype is one that the format defines.",
  number_form: "Numbers are non-negative integers written in plain digits.",
  number_too_large: "Numbers are at most 2^53 - 1.",
  shape_dimensions: `A shape has at most ${SAFETENSORS_LIMITS.dimensions} dimensions.`,
  shape_overflow: "The product of a shape's dimensions, without zeros, is at most 2^53 - 1.",
  shape_alignment: "A tensor of elements smaller than a byte fills whole bytes.",
  offsets_pair: "data_offsets are exactly two numbers.",
  offsets_reversed: "A tensor does not end before it starts.",
  size_mismatch: "Shape and dtype give the same number of bytes as data_offsets.",
  offsets_gap: "Tensors, in order of their offsets, start at 0 and have no gaps between them.",
  offsets_overlap: "No byte belongs to two tensors.",
  data_truncated: "The file contains all bytes of its tensors.",
  trailing_bytes: "The file ends with its last tensor.",
  polyglot: "The file is not also a PDF, tar, ZIP or gzip file.",
  not_a_lora: "The tensors are LoRA weights: pairs of a down and an up matrix.",
} as const;

export type SafetensorsRule = keyof typeof RULES;

/** Place of a broken rule: a byte of the file, and the tensor concerned if there is one. */
export type TensorPosition = { byte?: number; tensor?: string };

/** Thrown for the first rule that the file breaks when it is read from its beginning. */
export class SafetensorsRefusal extends Error {
  constructor(
    readonly rule: SafetensorsRule,
    readonly place: TensorPosition,
    detail?: string,
  ) {
    super([RULES[rule], detail, toText(place)].filter(Boolean).join(" "));
    this.name = "SafetensorsRefusal";
  }
}

export function refuseFile(rule: SafetensorsRule, place: TensorPosition, detail?: string): never {
  throw new SafetensorsRefusal(rule, place, detail);
}

/** Quotes a name from the file for a message: escaped and short. */
export function quoteName(name: string): string {
  const text = JSON.stringify([...name.slice(0, 200)].slice(0, 80).join(""));
  return text.slice(1, -1).length < name.length ? `${text.slice(0, -1)}…"` : text;
}

function toText({ byte, tensor }: TensorPosition): string {
  const parts = [
    ...(tensor === undefined ? [] : [`tensor ${quoteName(tensor)}`]),
    ...(byte === undefined ? [] : [`byte ${byte}`]),
  ];
  return parts.length === 0 ? "" : `(${parts.join(", ")})`;
}
