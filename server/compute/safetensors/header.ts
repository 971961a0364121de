import { isUtf8 } from "node:buffer";
import { DTYPE_BITS, type Dtype, isDtype } from "./dtypes";
import { quoteName, refuseFile, SAFETENSORS_LIMITS } from "./rules";
import { type JsonReader, jsonReader } from "./text";

/** One tensor, whose bytes lie from `begin` up to `end` (excluded) after the header. */
export type Tensor = { dtype: Dtype; shape: readonly number[]; begin: number; end: number };

/** Content of a header; both maps keep the order of the header's JSON. */
export type Header = {
  metadata: ReadonlyMap<string, string>;
  tensors: ReadonlyMap<string, Tensor>;
  /** Length of the JSON with its padding. */
  headerBytes: number;
  /** Size of all tensors together; the file has 8 + headerBytes + dataBytes. */
  dataBytes: number;
};

/** Size of the length field before the header. */
export const PREFIX_BYTES = 8;

/** Bytes that are read between two pauses: well under a millisecond of work. */
const PAUSE_BYTES = 32 * 1024;

/** Reads the header's length from the first eight bytes of a file. Throws SafetensorsRefusal. */
export function headerLength(prefix: Uint8Array): number {
  if (prefix.byteLength < PREFIX_BYTES) refuseFile("file_too_short", { byte: prefix.byteLength });
  const length = new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true);
  if (length === 0n) refuseFile("header_empty", { byte: 0 });
  if (length > SAFETENSORS_LIMITS.headerBytes)
    refuseFile("header_too_large", { byte: 0 }, `Its declared length is ${length}.`);
  return Number(length);
}

/**
 * Reads and checks a header without its prefix, and pauses often. Throws SafetensorsRefusal for the first rule that is broken.
 */
export function* parseHeader(bytes: Buffer): Generator<undefined, Header> {
  if (bytes[0] !== 0x7b) refuseFile("header_first_byte", { byte: PREFIX_BYTES });
  if (!isUtf8(bytes)) refuseFile("header_utf8", { byte: PREFIX_BYTES + firstBadByte(bytes) });
  const reader = jsonReader(bytes, PREFIX_BYTES);
  const tensors = new Map<string, Tensor>();
  let metadata: Map<string, string> | undefined;
  let pausedAt = PREFIX_BYTES;
  reader.need("{");
  if (!reader.take("}")) {
    do {
      const byte = reader.place();
      reader.needValue("string", "header_json");
      const name = reader.shortString(SAFETENSORS_LIMITS.nameBytes);
      if (name === "__metadata__") {
        if (metadata) refuseFile("duplicate_key", { byte }, quoteName(name));
        reader.need(":");
        metadata = yield* readMetadata(reader);
      } else {
        if (name === null || !isName(name) || /[/\\]/.test(name)) {
          refuseFile("tensor_name", name === null ? { byte } : { byte, tensor: name });
        }
        if (tensors.has(name)) refuseFile("duplicate_key", { byte }, quoteName(name));
        if (tensors.size === SAFETENSORS_LIMITS.tensors) refuseFile("too_many_tensors", { byte });
        reader.need(":");
        tensors.set(name, readTensor(reader, name));
      }
      if (reader.place() - pausedAt > PAUSE_BYTES) {
        pausedAt = reader.place();
        yield;
      }
    } while (reader.take(","));
    reader.need("}");
  }
  const end = reader.place() - PREFIX_BYTES;
  for (let i = end; i < bytes.length; i++) {
    if (bytes[i] !== 0x20) refuseFile("header_padding", { byte: PREFIX_BYTES + i });
    if (i % PAUSE_BYTES === 0) yield;
  }
  if (tensors.size === 0) refuseFile("no_tensors", {});
  yield;
  const dataBytes = checkLayout(tensors, PREFIX_BYTES + bytes.length);
  return { metadata: metadata ?? new Map(), tensors, headerBytes: bytes.length, dataBytes };
}

function* readMetadata(reader: JsonReader): Generator<undefined, Map<string, string>> {
  const metadata = new Map<string, string>();
  let pausedAt = reader.place();
  reader.needValue("object", "metadata_type");
  reader.need("{");
  if (reader.take("}")) return metadata;
  do {
    reader.needValue("string", "header_json");
    const byte = reader.place();
    const key = reader.shortString(SAFETENSORS_LIMITS.nameBytes);
    if (key === null || !isName(key)) refuseFile("metadata_key", { byte });
    if (metadata.has(key)) refuseFile("duplicate_key", { byte }, quoteName(key));
    if (metadata.size === SAFETENSORS_LIMITS.metadataEntries) refuseFile("metadata_too_many", { byte });
    reader.need(":");
    reader.needValue("string", "metadata_type");
    metadata.set(key, yield* reader.longString());
    if (reader.place() - pausedAt > PAUSE_BYTES) {
      pausedAt = reader.place();
      yield;
    }
  } while (reader.take(","));
  reader.need("}");
  return metadata;
}

function readTensor(reader: JsonReader, name: string): Tensor {
  const first = reader.place();
  let dtype: Dtype | undefined;
  let shape: number[] | undefined;
  let offsets: number[] | undefined;
  reader.needValue("object", "entry_type");
  reader.need("{");
  if (!reader.take("}")) {
    do {
      reader.needValue("string", "header_json");
      const byte = reader.place();
      const field = reader.shortString(SAFETENSORS_LIMITS.nameBytes);
      reader.need(":");
      if (field === "dtype") {
        if (dtype) refuseFile("duplicate_key", { byte, tensor: name }, field);
        reader.needValue("string", "entry_type");
        const given = reader.shortString(16);
        if (given === null || !isDtype(given)) refuseFile("dtype_unknown", { byte, tensor: name });
        dtype = given;
      } else if (field === "shape") {
        if (shape) refuseFile("duplicate_key", { byte, tensor: name }, field);
        shape =
          readNaturals(reader, SAFETENSORS_LIMITS.dimensions) ??
          refuseFile("shape_dimensions", { byte, tensor: name });
      } else if (field === "data_offsets") {
        if (offsets) refuseFile("duplicate_key", { byte, tensor: name }, field);
        offsets = readNaturals(reader, 2) ?? refuseFile("offsets_pair", { byte, tensor: name });
      } else {
        refuseFile(
          "entry_field_unknown",
          { byte, tensor: name },
          field === null ? undefined : quoteName(field),
        );
      }
    } while (reader.take(","));
    reader.need("}");
  }
  if (!dtype || !shape || !offsets) refuseFile("entry_field_missing", { byte: first, tensor: name });
  const [begin, end] = offsets;
  if (begin === undefined || end === undefined) refuseFile("offsets_pair", { byte: first, tensor: name });
  if (end < begin) refuseFile("offsets_reversed", { byte: first, tensor: name });
  const bits = elementsOf(shape, first, name) * BigInt(DTYPE_BITS[dtype]);
  if (bits % 8n !== 0n) refuseFile("shape_alignment", { byte: first, tensor: name });
  if (bits / 8n !== BigInt(end - begin)) {
    refuseFile(
      "size_mismatch",
      { byte: first, tensor: name },
      `The shape gives ${bits / 8n} bytes, and the offsets give ${end - begin}.`,
    );
  }
  return { dtype, shape, begin, end };
}

/** Reads an array of at most `most` integers; null if there are more. */
function readNaturals(reader: JsonReader, most: number): number[] | null {
  const numbers: number[] = [];
  reader.needValue("array", "entry_type");
  reader.need("[");
  if (reader.take("]")) return numbers;
  do {
    if (numbers.length === most) return null;
    numbers.push(reader.natural());
  } while (reader.take(","));
  reader.need("]");
  return numbers;
}

function elementsOf(shape: readonly number[], byte: number, tensor: string): bigint {
  let product = 1n;
  let isEmpty = false;
  for (const size of shape) {
    if (size === 0) isEmpty = true;
    else product *= BigInt(size);
    if (product > BigInt(Number.MAX_SAFE_INTEGER)) refuseFile("shape_overflow", { byte, tensor });
  }
  return isEmpty ? 0n : product;
}

/**
 * Checks that every byte after the header belongs to exactly one tensor, and returns the number of bytes. Entries may be in any
 * order, as some writers leave them.
 */
function checkLayout(tensors: ReadonlyMap<string, Tensor>, firstByte: number): number {
  const placed = [...tensors];
  const isBefore = ([, a]: [string, Tensor], [, b]: [string, Tensor]) => a.begin - b.begin || a.end - b.end;
  placed.sort(isBefore);
  let next = 0;
  for (const [name, { begin, end }] of placed) {
    if (begin !== next) {
      refuseFile(begin > next ? "offsets_gap" : "offsets_overlap", { byte: firstByte + begin, tensor: name });
    }
    next = end;
  }
  return next;
}

const isName = (name: string) =>
  name !== "" &&
  name !== "__proto__" &&
  !/\p{Cc}/u.test(name) &&
  (name.length * 3 <= SAFETENSORS_LIMITS.nameBytes ||
    Buffer.byteLength(name) <= SAFETENSORS_LIMITS.nameBytes);

/** Offset of the first byte that is not UTF-8: the window is found first, then the character in it. */
function firstBadByte(bytes: Buffer): number {
  let start = 0;
  for (const width of [4096, 1]) {
    for (let end = start; start < bytes.length; start = end) {
      end = Math.min(start + width, bytes.length);
      for (let more = 0; more < 3 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80; more++) end++;
      if (!isUtf8(bytes.subarray(start, end))) break;
    }
  }
  return start;
}
