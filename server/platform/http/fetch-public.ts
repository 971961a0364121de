import { lookup } from "node:dns/promises";
import { Client } from "undici";
import { deadline } from "@/server/platform/time/deadline";
import { isPublicAddress, pinnedTo } from "./addresses";
import { connectorOf } from "./connector";
import { exchange, type HttpAnswer } from "./exchange";
import { codeOf, ProxyFault } from "./failures";
import { FetchFault, type FetchReason } from "./fetch-fault";
import { isResolvedByProxy } from "./outgoing";
import { checkedAddresses, type Network, readPublicUrl } from "./public-url";

/*
 * Fetches URLs of callers, protected against SSRF: listed hosts only, and public addresses only unless the operator allows others,
 * checked at every redirect. The fetch connects to the checked address itself, so DNS cannot change in between (except with
 * OUTGOING_PROXY_RESOLVES).
 */

const MAX_REDIRECTS = 3;
const MAX_HEADER_BYTES = 32 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;

const resolve: Network["resolve"] = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/** The internet, or, if the operator allows it, everything that can be reached from here. */
export const networkAllowing = (allowPrivateAddresses: boolean): Network => ({
  resolve,
  mayConnect: allowPrivateAddresses ? () => true : isPublicAddress,
  isLoose: allowPrivateAddresses,
});

export type FetchRules = {
  /** The allowed hosts, also for redirects; `*.example.org` includes every subdomain. */
  hosts: readonly string[];
  network: Network;
  /** Aborts everything: name resolution, connections, redirects and the body. */
  timeoutMs: number;
  signal?: AbortSignal;
};

export type FetchRequest = {
  url: string;
  /** A larger body is a fault. */
  maxBytes: number;
  accept?: string;
  /** The requested byte range, inclusive; a response with other bytes is a fault. */
  range?: { first: number; last: number };
  /** Sent only to its own origin, until a redirect leads to another. */
  credential?: { origin: string; authorization: string };
};

/** A response of any status except a redirect. The body is read on success and empty otherwise. */
export type Fetched = HttpAnswer & {
  bytes: Uint8Array;
  /** The final URL, after redirects. */
  url: string;
  /** For a range: the length of the whole file, if the server reports it. */
  totalBytes: number | null;
};

/** Fetches without retries, and follows up to three redirects. Throws FetchFault if the URL is refused or the fetch fails. */
export async function fetchPublic(request: FetchRequest, rules: FetchRules): Promise<Fetched> {
  const signal = deadline(rules.timeoutMs, rules.signal);
  let url = readPublicUrl(request.url, rules.hosts, rules.network);
  let { credential } = request;
  for (let hop = 0; ; hop += 1) {
    try {
      if (credential && credential.origin !== url.origin) credential = undefined;
      const fetched = await fetchHop(url, { ...request, credential }, rules.network, signal);
      if (!isRedirect(fetched.status)) return fetched;
      if (hop === MAX_REDIRECTS) throw new FetchFault("redirects");
      url = nextUrl(url, fetched.header("location"), rules, hop + 1);
    } catch (cause) {
      throw cause instanceof FetchFault && cause.hop < hop ? new FetchFault(cause.reason, hop) : cause;
    }
  }
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

function nextUrl(from: URL, location: string | null, { hosts, network }: FetchRules, hop: number): URL {
  if (!location) throw new FetchFault("location", hop);
  try {
    return readPublicUrl(location, hosts, network, from);
  } catch (cause) {
    const { reason } = cause as FetchFault; // readPublicUrl throws nothing else
    throw new FetchFault(reason === "not_a_url" ? "location" : reason, hop);
  }
}

type Hop = Omit<FetchRequest, "url" | "credential"> & { credential: FetchRequest["credential"] };

async function fetchHop(url: URL, hop: Hop, network: Network, signal: AbortSignal): Promise<Fetched> {
  const addresses = isResolvedByProxy(url) ? [] : await before(signal, checkedAddresses(url, network));
  const { range, accept = "*/*", credential } = hop;
  const maxBytes = mostOf(hop);
  const client = new Client(url.origin, {
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: connectorOf({
      timeoutMs: CONNECT_TIMEOUT_MS,
      lookup: pinnedTo(addresses),
      isOperators: false,
    }),
  });
  const chunks: Uint8Array[] = [];
  let received = 0;
  let verdict: FetchReason | null = null;
  const stop = (reason: FetchReason | null) => {
    verdict = reason;
    return "stop" as const;
  };
  const outcome = await exchange(
    {
      pool: client,
      origin: url.origin,
      path: url.pathname + url.search,
      method: "GET",
      headers: {
        accept,
        ...(range ? { range: `bytes=${range.first}-${range.last}` } : {}),
        ...(credential ? { authorization: credential.authorization } : {}),
      },
      body: null,
      signal,
    },
    {
      onHead(answer) {
        const { status } = answer;
        if (status < 200 || status >= 300) return stop(null);
        return refusalOf(answer, hop) === null ? "more" : stop(refusalOf(answer, hop));
      },
      onChunk(chunk) {
        received += chunk.byteLength;
        if (received > maxBytes) return stop("too_large");
        chunks.push(chunk);
        return "more";
      },
    },
  );
  void client.destroy();
  if (verdict !== null) throw new FetchFault(verdict);
  if (outcome.state !== "answered") throw new FetchFault(reasonOf(outcome));
  const { status, header } = outcome.answer;
  if (range && status === 206 && received !== range.last - range.first + 1) {
    // A file that ends before the range does is returned as it is; its length shows it.
    const total = totalOf(header("content-range"));
    if (total === null || total !== range.first + received) throw new FetchFault("range");
  }
  return {
    status,
    header,
    bytes: Buffer.concat(chunks),
    url: url.href,
    totalBytes: totalOf(header("content-range")),
  };
}

const mostOf = ({ range, maxBytes }: Hop) =>
  range ? Math.min(maxBytes, range.last - range.first + 1) : maxBytes;

/** The fault of a successful response, checked before its body is read. */
function refusalOf({ status, header }: HttpAnswer, hop: Hop): FetchReason | null {
  const { range } = hop;
  const encoding = header("content-encoding");
  if (encoding && encoding.toLowerCase() !== "identity") return "encoding";
  if (range && status !== 206) return "range";
  if (Number(header("content-length") ?? 0) > mostOf(hop)) return "too_large";
  if (!range) return null;
  const first = /^bytes (\d+)-\d+\/(?:\d+|\*)$/.exec(header("content-range") ?? "")?.[1];
  return first !== undefined && Number(first) === range.first ? null : "range";
}

function totalOf(contentRange: string | null): number | null {
  const total = /\/(\d{1,15})$/.exec(contentRange ?? "")?.[1];
  return total === undefined ? null : Number(total);
}

function reasonOf(outcome: { state: "unsent" | "lost"; error: unknown; isStopped: boolean }): FetchReason {
  if (outcome.isStopped) return "timeout";
  if (outcome.error instanceof ProxyFault) return "proxy";
  const code = codeOf(outcome.error);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "timeout";
  if (code === "UND_ERR_HEADERS_OVERFLOW") return "headers";
  return outcome.state === "unsent" ? "unreachable" : "lost";
}

/** Name resolution cannot be aborted; this only stops waiting for it. */
async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) throw new FetchFault("timeout");
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new FetchFault("timeout"));
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => {}); // the caller no longer waits
  }
}
