import { createHash } from "node:crypto";
import { FetchFault, fetchPublic, networkAllowing } from "@/server/platform/http";
import { env, publicUrl } from "@/server/platform/settings/env";
import { RequestRefused } from "./ports/define";

/*
 * Reads LoRA weights as a vendor does: from an address, or by the vendor's own word for weights that it stores. The sandbox reads
 * only their beginning, and only from sources that Capstan itself would read or from Capstan's own address.
 */

const FIRST_BYTES = 65_536;
const TIMEOUT_MS = 15_000;

/**
 * Returns a digest of the weights, equal for the same first bytes and length at any address. Throws RequestRefused if there are
 * no weights.
 */
export async function readWeights(address: string): Promise<string> {
  if (!/^https?:/i.test(address)) return digest(address);
  try {
    const range = { first: 0, last: FIRST_BYTES - 1 };
    const { status, bytes, totalBytes } = await fetchPublic(
      { url: address, maxBytes: FIRST_BYTES, range },
      rulesFor(address),
    );
    if (status === 206 && isSafetensors(bytes)) return digest(bytes, String(totalBytes));
  } catch (cause) {
    if (!(cause instanceof FetchFault)) throw cause;
  }
  throw new RequestRefused("weights_unavailable", "There are no LoRA weights at one of the addresses.");
}

function rulesFor(address: string) {
  const own = `${env.PUBLIC_URL ?? publicUrl}/v1/adapter-weights/`;
  const isOwn = URL.canParse(address) && new URL(address).href.startsWith(own);
  const hub = new URL(env.HF_BASE_URL).hostname;
  return {
    hosts: isOwn ? [new URL(own).hostname] : [hub, ...env.ADAPTER_SOURCE_HOSTS],
    network: networkAllowing(isOwn || env.ALLOW_PRIVATE_ADDRESSES),
    timeoutMs: TIMEOUT_MS,
  };
}

/** True if the bytes can begin a safetensors file: eight bytes with the header's length, then the header. */
const isSafetensors = (bytes: Uint8Array) => bytes.byteLength > 9 && bytes[8] === 0x7b;

function digest(...parts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex");
}
