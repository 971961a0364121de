/** What a file says of itself before it is sent, or the rule it breaks already. */
export type Look =
  | { kind: "refused"; rule: string; message: string }
  | {
      kind: "seen";
      tensors: number;
      /** A few of their names. */
      names: string[];
      /** The base model, in the words of whoever trained it. */
      madeFor: string | null;
    }
  /** Only the whole check can tell. */
  | { kind: "unclear" };

export type Limits = { fileBytes: number; headerBytes: number };

const PREFIX_BYTES = 8;
const BRACE = 0x7b;
const MOST_NAMES = 4;
const MADE_FOR = ["modelspec.architecture", "ss_base_model_version", "base_model", "baseModel"];

/**
 * Reads the head of a file and refuses what cannot be safetensors, so that nobody waits for gigabytes in vain. It names a rule
 * (docs/reference/safetensors.md) only where the check on the server names the same; of all else the server judges.
 */
export async function lookAt(file: Blob, { fileBytes, headerBytes }: Limits): Promise<Look> {
  if (file.size > fileBytes)
    return refused("file_too_large", `The file is larger than the ${fileBytes} bytes that are taken.`);
  if (file.size < PREFIX_BYTES)
    return refused("file_too_short", "The file is too short to be a safetensors file.");
  const prefix = new DataView(await file.slice(0, PREFIX_BYTES).arrayBuffer());
  const length = prefix.getBigUint64(0, true);
  if (length === 0n) return refused("header_empty", "The file begins with a header of no length.");
  if (length > BigInt(headerBytes))
    return refused("header_too_large", "The file does not begin as a safetensors file does.");
  const end = PREFIX_BYTES + Number(length);
  const [first] = new Uint8Array(await file.slice(PREFIX_BYTES, PREFIX_BYTES + 1).arrayBuffer());
  if (first !== undefined && first !== BRACE)
    return refused("header_first_byte", "The header does not begin with { as it must.");
  if (end > file.size) return refused("header_truncated", "The file ends before its header does.");
  return readHeader(new Uint8Array(await file.slice(PREFIX_BYTES, end).arrayBuffer()));
}

function readHeader(bytes: Uint8Array): Look {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refused("header_utf8", "The header is not text in UTF-8.");
  }
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    return { kind: "unclear" };
  }
  if (typeof header !== "object" || header === null) return { kind: "unclear" };
  const { __metadata__: metadata, ...tensors } = header as Record<string, unknown>; // JSON that begins with {
  const names = Object.keys(tensors);
  return {
    kind: "seen",
    tensors: names.length,
    names: names.slice(0, MOST_NAMES),
    madeFor: madeForOf(metadata),
  };
}

function madeForOf(metadata: unknown): string | null {
  if (typeof metadata !== "object" || metadata === null) return null;
  const said = Object.entries(metadata);
  const found = MADE_FOR.map((key) => said.find(([name]) => name === key)?.[1]).find(
    (value) => typeof value === "string" && value !== "",
  );
  return typeof found === "string" ? found.slice(0, 100) : null;
}

const refused = (rule: string, message: string): Look => ({ kind: "refused", rule, message });

/** What a file is called without its ending, as a first name for the adapter. */
export const nameOfFile = (name: string): string => name.replace(/\.safetensors$/i, "").slice(0, 255);
