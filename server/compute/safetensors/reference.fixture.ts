import { isObject } from "@/server/platform/text/json";
import { DTYPE_BITS } from "./dtypes";
import { SAFETENSORS_LIMITS } from "./rules";

/**
 * True if the file is valid. A second implementation, written in another way: the whole text through JSON.parse, keys by a
 * regular expression over tokens, sizes and offsets in BigInt, every byte of the data marked with its tensor.
 */
export function isGoodSlowly(file: Buffer): boolean {
  try {
    return isGood(file);
  } catch {
    return false;
  }
}

function isGood(file: Buffer): boolean {
  if (file.length < 8 || file.length > SAFETENSORS_LIMITS.fileBytes) return false;
  const length = file.readBigUInt64LE();
  if (length > BigInt(SAFETENSORS_LIMITS.headerBytes) || length + 8n > BigInt(file.length)) return false;
  const bytes = file.subarray(8, 8 + Number(length));
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  if (!text.startsWith("{") || !/\} *$/.test(text)) return false;
  const named = JSON.parse(text);
  const keys = keysByDepth(text);
  for (const list of keys) if (new Set(list).size !== list.length) return false;

  if (keys[0]?.includes("__proto__")) return false;
  const metadata = named.__metadata__;
  if (keys[0]?.includes("__metadata__")) {
    if (!isObject(metadata)) return false;
    const entries = Object.entries(metadata);
    if (entries.length > SAFETENSORS_LIMITS.metadataEntries) return false;
    for (const [key, value] of entries) {
      if (!isFit(key) || typeof value !== "string" || isBroken(value)) return false;
    }
  }
  const names = Object.keys(named).filter((name) => name !== "__metadata__");
  if (names.length === 0 || names.length > SAFETENSORS_LIMITS.tensors) return false;
  const data = file.length - 8 - bytes.length;
  const owners = new Array<string | undefined>(data);
  const empties: number[] = [];
  for (const name of names) {
    if (!isFit(name) || /[/\\]/.test(name)) return false;
    const entry = named[name];
    if (!isObject(entry)) return false;
    if (Object.keys(entry).sort().join() !== "data_offsets,dtype,shape") return false;
    const { dtype, shape, data_offsets: offsets } = entry;
    const bits = Object.entries(DTYPE_BITS).find(([known]) => known === dtype)?.[1];
    if (!bits || !isNaturals(shape) || !isNaturals(offsets)) return false;
    const [begin, end] = offsets;
    if (begin === undefined || end === undefined || offsets.length !== 2 || begin > end || end > data)
      return false;
    if (shape.length > SAFETENSORS_LIMITS.dimensions) return false;
    const full = shape.filter((size) => size > 0).reduce((product, size) => product * BigInt(size), 1n);
    if (full > BigInt(Number.MAX_SAFE_INTEGER)) return false;
    const elements = shape.includes(0) ? 0n : full;
    if (elements * BigInt(bits) !== BigInt(end - begin) * 8n) return false;
    if (begin === end) empties.push(begin);
    for (let at = begin; at < end; at++) {
      if (owners[at] !== undefined) return false;
      owners[at] = name;
    }
  }
  if (owners.includes(undefined)) return false;
  // An empty tensor must lie where another one ends or begins.
  for (const at of empties) if (at > 0 && at < data && owners[at - 1] === owners[at]) return false;
  if (!hasPlainNumbers(text)) return false;
  return !isOtherFormatToo(file);
}

/** Keys of every object in the text, an array each, the outermost first. */
function keysByDepth(text: string): string[][] {
  const all: string[][] = [];
  const open: string[][] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}]/gs)) {
    if (token === "{") {
      const keys: string[] = [];
      all.push(keys);
      open.push(keys);
    } else if (token === "}") open.pop();
    else if (token.endsWith(":")) open.at(-1)?.push(JSON.parse(token.slice(0, -1)));
  }
  return all;
}

/** JSON.parse accepts 1e0, 1.0 and -0 as integers; the format does not. */
function hasPlainNumbers(text: string): boolean {
  const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""');
  return !/[-+.eE]/.test(outside.replaceAll(/true|false|null/g, ""));
}

const isNaturals = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);

const isBroken = (value: string) => value !== Buffer.from(value).toString();

const isFit = (name: string) =>
  name !== "" &&
  name !== "__proto__" &&
  Buffer.byteLength(name) <= SAFETENSORS_LIMITS.nameBytes &&
  !isBroken(name) &&
  ![...name].some((char) => char < " " || (char >= "\x7f" && char <= "\x9f"));

function isOtherFormatToo(file: Buffer): boolean {
  if (file.toString("latin1", 0, 3) === "\x1f\x8b\b") return true;
  if (file.subarray(0, 1024).includes("%PDF-") || file.toString("latin1", 257, 262) === "ustar") return true;
  for (let at = Math.max(0, file.length - 65_557); at + 22 <= file.length; at++) {
    const isMark = file.toString("latin1", at, at + 4) === "PK\x05\x06";
    if (isMark && at + 22 + file.readUInt16LE(at + 20) === file.length) return true;
  }
  return false;
}
