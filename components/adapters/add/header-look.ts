/** The facts that a file's header shows before the upload, or the rule that the file breaks. */
export type HeaderLook =
  | { kind: "refused"; rule: string; message: string }
  | {
      kind: "seen";
      tensors: number;
      /** Names of the first few tensors. */
      names: string[];
      /** The base model as named in the metadata; null if it names none. */
      madeFor: string | null;
    }
  /** Only the full check on the server can decide. */
  | { kind: "unclear" };

export type Limits = { fileBytes: number; headerBytes: number };

const PREFIX_BYTES = 8;
const BRACE = 0x7b;
const MOST_NAMES = 4;
const MADE_FOR = ["modelspec.architecture", "ss_base_model_version", "base_model", "baseModel"];

/**
 * Reads a file's header and refuses an invalid safetensors file before gigabytes are uploaded. It names a rule
 * (docs/reference/safetensors.md) only if the server names the same rule for this file; the server decides everything else.
 */
export async function lookAt(file: Blob, { fileBytes, headerBytes }: Limits): Promise<HeaderLook> {
  if (file.size > fileBytes)
    return refused("file_too_large", `The file is larger than the limit of ${fileBytes} bytes.`);
  if (file.size < PREFIX_BYTES)
    return refused("file_too_short", "The file is too short to be a safetensors file.");
  const prefix = new DataView(await file.slice(0, PREFIX_BYTES).arrayBuffer());
  const length = prefix.getBigUint64(0, true);
  if (length === 0n) return refused("header_empty", "The header of the file is empty.");
  if (length > BigInt(headerBytes))
    return refused("header_too_large", "The header of the file is larger than a safetensors header can be.");
  const end = PREFIX_BYTES + Number(length);
  const [first] = new Uint8Array(await file.slice(PREFIX_BYTES, PREFIX_BYTES + 1).arrayBuffer());
  if (first !== undefined && first !== BRACE)
    return refused("header_first_byte", "The header of the file does not start with {.");
  if (end > file.size) return refused("header_truncated", "The file ends before its header ends.");
  return readHeader(new Uint8Array(await file.slice(PREFIX_BYTES, end).arrayBuffer()));
}

function readHeader(bytes: Uint8Array): HeaderLook {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refused("header_utf8", "The header of the file is not valid UTF-8.");
  }
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    return { kind: "unclear" };
  }
  if (typeof header !== "object" || header === null) return { kind: "unclear" };
  const { __metadata__: metadata, ...tensors } = header as Record<string, unknown>; // a JSON text that begins with { is an object
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

const refused = (rule: string, message: string): HeaderLook => ({ kind: "refused", rule, message });

/** The file name without its extension, as the suggested name of the adapter. */
export const nameOfFile = (name: string): string => name.replace(/\.safetensors$/i, "").slice(0, 255);
