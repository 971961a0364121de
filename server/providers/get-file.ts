import { refusalOfAddress } from "@/server/platform/http";
import { ProviderFault } from "./define";
import { call, type FileReply, type HttpIo, type HttpOptions, type HttpReply, toFileReply } from "./http";

const MAX_REDIRECTS = 3;

/**
 * Downloads a file that a provider made, from the address it names, without credentials. Only https and public
 * addresses are called, unless the settings allow private ones; at most three redirects are followed. The work is done
 * and paid for, so a temporary problem is `lost` (poll again) and only a definite one is `failed`.
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
    // Checked at each hop. A forbidden address is final: a later try would be refused as well.
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
    if ((reply.status >= 200 && reply.status < 300) || !location) return toFileReply(reply);
    next = URL.canParse(location, url) ? new URL(location, url).href : "";
  }
  throw new ProviderFault("failed", "attempted", "The address of the provider's file is not allowed.");
}

/** Refused connections, lack of capacity, server errors and broken connections say nothing about the file. */
function asFileFault({ kind, message, details: { concerns: _, ...details } }: ProviderFault): ProviderFault {
  const isDefinite = kind === "refused" || (kind === "failed" && (details.status ?? 0) < 500);
  return isDefinite
    ? new ProviderFault("failed", "attempted", "The provider's file cannot be downloaded.", details)
    : new ProviderFault("lost", "ambiguous", message, details);
}
