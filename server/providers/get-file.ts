import { refusalOfAddress } from "@/server/platform/http";
import { ProviderFault } from "./define";
import { call, type FileReply, type HttpIo, type HttpOptions, type HttpReply, toFile } from "./http";

const MAX_REDIRECTS = 3;

/**
 * Fetches a file a provider has made, from wherever it says the file lies: https only, public addresses only (checked at
 * each redirect, of which there may be three), and never with a credential. The work is done and paid for, so whatever may
 * pass is `lost` (ask again later); only a definite no is `failed`.
 */
export async function getFile(
  address: string,
  io: Pick<HttpIo, "signal" | "allowPrivateAddresses">,
  options: Pick<HttpOptions, "maxResponseBytes"> = {},
): Promise<FileReply> {
  let next = address;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const url = URL.canParse(next) ? new URL(next) : null;
    const { signal, allowPrivateAddresses } = io;
    // Looked at again at each hop: where a file may not be had from today, it may not be tomorrow.
    if (!url || refusalOfAddress(url, { allowHttp: allowPrivateAddresses, allowPrivateAddresses })) break;
    const from = { baseUrl: url.origin, credentials: {}, signal, allowPrivateAddresses };
    let reply: HttpReply;
    try {
      reply = await call(from, {
        method: "GET",
        path: url.pathname + url.search,
        body: null,
        headers: { accept: "*/*" },
        ...options,
        read: "bytes",
        redirects: true,
      });
    } catch (cause) {
      throw cause instanceof ProviderFault ? asFileFault(cause) : cause;
    }
    const location = reply.header("location");
    if ((reply.status >= 200 && reply.status < 300) || !location) return toFile(reply);
    next = URL.canParse(location, url) ? new URL(location, url).href : "";
  }
  throw new ProviderFault("failed", "attempted", "The address of the provider's file is not allowed.");
}

/** A closed door, a full house and a broken connection say nothing of the file. */
function asFileFault({ kind, message, details: { concerns: _, ...details } }: ProviderFault): ProviderFault {
  const isDefinite = kind === "refused" || (kind === "failed" && (details.status ?? 0) < 500);
  return isDefinite
    ? new ProviderFault("failed", "attempted", "The provider's file cannot be downloaded.", details)
    : new ProviderFault("lost", "ambiguous", message, details);
}
