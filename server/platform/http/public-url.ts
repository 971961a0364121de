import { isIP } from "node:net";
import { FetchFault } from "./fetch-fault";
import { leavesByProxy } from "./outgoing";

/** Rules for resolving names and for the addresses that may be connected to. */
export type Network = {
  resolve(hostname: string): Promise<string[]>;
  mayConnect(address: string): boolean;
  /** Also allows http and other ports than 443, for servers on the operator's own network. */
  isLoose: boolean;
};

/**
 * True if the host is one of these. `example.org` is only that host, `*.example.org` every subdomain. Hosts are normalized by
 * `URL`, so each has one spelling.
 */
export function isListedHost(hostname: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) =>
    pattern.startsWith("*.")
      ? hostname.endsWith(pattern.slice(1)) && hostname.length > pattern.length - 1
      : hostname === pattern,
  );
}

/**
 * Parses an untrusted URL, and refuses it if its text shows that it may not be fetched. `URL` normalizes every spelling of a
 * host; characters that it would silently drop or rewrite are refused first.
 */
export function readPublicUrl(
  text: string,
  hosts: readonly string[],
  { isLoose, mayConnect }: Network,
  base?: URL,
): URL {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
  if (/[\u0000-\u0020\u007f\\]/.test(text)) throw new FetchFault("not_a_url");
  const authority = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority === undefined && (base === undefined || /^[a-z][a-z0-9+.-]*:/i.test(text)))
    throw new FetchFault(
      /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^https?:/i.test(text) ? "scheme" : "not_a_url",
    );
  if (authority?.includes("@")) throw new FetchFault("user_name");
  // A host written with other letters or escapes is refused, whatever it resolves to.
  if (authority !== undefined && /[^\u0021-\u007e]|%/.test(authority)) throw new FetchFault("host");
  if (!URL.canParse(text, base)) throw new FetchFault("not_a_url");
  const url = new URL(text, base);
  if (url.protocol !== "https:" && !(isLoose && url.protocol === "http:")) throw new FetchFault("scheme");
  if (authority === "" || url.hostname === "") throw new FetchFault("not_a_url");
  if (url.port !== "" && !isLoose) throw new FetchFault("port");
  if (!isListedHost(url.hostname, hosts)) throw new FetchFault("host");
  const literal = literalOf(url);
  if (literal !== null && !mayConnect(literal)) throw new FetchFault("address");
  url.hash = "";
  return url;
}

/** The literal address in the URL; null for a host name. */
export function literalOf({ hostname }: URL): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

/** Resolves a URL's host to its current addresses. If one is not allowed, all are refused. Throws FetchFault. */
export async function checkedAddresses(url: URL, { resolve, mayConnect }: Network): Promise<string[]> {
  const literal = literalOf(url);
  let addresses: string[];
  try {
    addresses = literal === null ? await resolve(url.hostname) : [literal];
  } catch {
    throw new FetchFault(leavesByProxy(url) ? "unresolved_here" : "unresolved");
  }
  if (addresses.length === 0) throw new FetchFault("unresolved");
  if (!addresses.every((address) => isIP(address) !== 0 && mayConnect(address)))
    throw new FetchFault("address");
  return addresses;
}
