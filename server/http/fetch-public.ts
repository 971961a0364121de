import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Client } from "undici";
import { deadline } from "@/server/deadline";
import { isPublicAddress } from "./addresses";
import { type Answer, exchange } from "./exchange";
import { codeOf } from "./failures";
import { FetchFault, type FetchReason } from "./fetch-fault";
import { checkedAddresses, type Network, readPublicUrl } from "./public-url";

/*
 * Fetches from addresses that callers name, without ever being led elsewhere: listed hosts only, public addresses only, looked
 * at again at every redirect. The address that was checked is the one connected to, so a name cannot mean another a moment
 * later; there is one connection a request, and no proxy.
 */

const MAX_REDIRECTS = 3;
const MAX_HEADER_BYTES = 32 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;

const resolve: Network["resolve"] = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/** The internet, or with the operator's leave whatever can be reached from here. */
export const networkOf = (allowPrivateAddresses: boolean): Network => ({
  resolve,
  mayConnect: allowPrivateAddresses ? () => true : isPublicAddress,
  isLoose: allowPrivateAddresses,
});

export type FetchRules = {
  /** Where may be fetched from, redirects included; `*.example.org` is whatever is below it. */
  hosts: readonly string[];
  network: Network;
  /** Ends everything: names, connections, redirects and the body. */
  timeoutMs: number;
  signal?: AbortSignal;
};

export type FetchRequest = {
  url: string;
  /** Larger bodies are a fault. */
  maxBytes: number;
  accept?: string;
  /** The only bytes that are wanted, both ends included; an answer with others is a fault. */
  range?: { first: number; last: number };
  /** Sent to the origin it belongs to, for as long as no other was in between. */
  credential?: { origin: string; authorization: string };
};

/** An answer of any status but a redirect. Its body is read where the status is a success, and empty otherwise. */
export type Fetched = Answer & {
  bytes: Uint8Array;
  /** Where it came from, after redirects. */
  url: string;
  /** Of a part: how long the whole is, where the server tells. */
  totalBytes: number | null;
};

/** Fetches once. Throws FetchFault where that is refused, led astray or fails. */
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
    const { reason } = cause as FetchFault; // it throws nothing else
    throw new FetchFault(reason === "not_a_url" ? "location" : reason, hop);
  }
}

type Hop = Omit<FetchRequest, "url" | "credential"> & { credential: FetchRequest["credential"] };

async function fetchHop(url: URL, hop: Hop, network: Network, signal: AbortSignal): Promise<Fetched> {
  const addresses = await before(signal, checkedAddresses(url, network));
  const { range, accept = "*/*", credential } = hop;
  const maxBytes = mostOf(hop);
  const client = new Client(url.origin, {
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: { timeout: CONNECT_TIMEOUT_MS, lookup: pinnedTo(addresses) },
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
    // A file that ends before the part does is told as it is; its length says so.
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

/** What is wrong with a success before its body is read. */
function refusalOf({ status, header }: Answer, hop: Hop): FetchReason | null {
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
  const code = codeOf(outcome.error);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "timeout";
  if (code === "UND_ERR_HEADERS_OVERFLOW") return "headers";
  return outcome.state === "unsent" ? "unreachable" : "lost";
}

/** Answers every lookup with the addresses that were checked; the name is not asked for again. */
function pinnedTo(addresses: string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const family = options.family === 4 || options.family === 6 ? options.family : null;
    const fit = pinned.filter((each) => family === null || each.family === family);
    const [first] = fit;
    if (!first) callback(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), "", 0);
    else if (options.all) callback(null, fit);
    else callback(null, first.address, first.family);
  };
}

/** Resolving a name cannot be stopped, only not be waited for. */
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
    work.catch(() => {}); // nobody waits any more
  }
}
