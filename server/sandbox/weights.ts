import { createHash } from "node:crypto";
import { FetchFault, fetchPublic, networkOf } from "@/server/platform/http";
import { env, publicUrl } from "@/server/platform/settings/env";
import { RequestRefused } from "./ports/define";

/*
 * LoRA weights as a vendor gets at them: by an address it fetches, or by a word of its own for weights that lie with it. The
 * sandbox reads only their beginning, and only where Capstan itself would read weights, or serves its own.
 */

const FIRST_BYTES = 65_536;
const TIMEOUT_MS = 15_000;

/** What a picture has of weights: the same bytes give the same, wherever they lie. */
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
    network: networkOf(isOwn || env.ALLOW_PRIVATE_ADDRESSES),
    timeoutMs: TIMEOUT_MS,
  };
}

/** Eight bytes say how long the header is; then it begins. */
const isSafetensors = (bytes: Uint8Array) => bytes.byteLength > 9 && bytes[8] === 0x7b;

function digest(...parts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex");
}
