import { isIP } from "node:net";
import { FetchFault } from "./fetch-fault";

/** How names become addresses, and which of those may be connected to. */
export type Network = {
  resolve(hostname: string): Promise<string[]>;
  mayConnect(address: string): boolean;
  /** http and ports other than 443 too: for servers on the operator's own network. */
  isLoose: boolean;
};

/**
 * Is the host one of these? `example.org` is that host alone, `*.example.org` whatever is below it. Hosts come as `URL`
 * writes them, so there is one way to write each.
 */
export function isListedHost(hostname: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) =>
    pattern.startsWith("*.")
      ? hostname.endsWith(pattern.slice(1)) && hostname.length > pattern.length - 1
      : hostname === pattern,
  );
}

/**
 * Reads an address that somebody else wrote, and refuses it where it may not be fetched as far as its text tells. `URL` undoes
 * every way to write a host; what it would quietly drop or rewrite to get there is refused before.
 */
export function readPublicUrl(
  text: string,
  hosts: readonly string[],
  { isLoose, mayConnect }: Network,
  base?: URL,
): URL {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused
  if (/[\u0000-\u0020\u007f\\]/.test(text)) throw new FetchFault("not_a_url");
  const authority = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority === undefined && (base === undefined || /^[a-z][a-z0-9+.-]*:/i.test(text)))
    throw new FetchFault(
      /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^https?:/i.test(text) ? "scheme" : "not_a_url",
    );
  if (authority?.includes("@")) throw new FetchFault("user_name");
  // A host in other letters or escapes is a disguise, whatever it turns out to be.
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

/** The address that stands in the URL itself; null where there is a name. */
export function literalOf({ hostname }: URL): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

/** The addresses a URL's host has now. One that may not be connected to forbids the others too. */
export async function checkedAddresses(url: URL, { resolve, mayConnect }: Network): Promise<string[]> {
  const literal = literalOf(url);
  let addresses: string[];
  try {
    addresses = literal === null ? await resolve(url.hostname) : [literal];
  } catch {
    throw new FetchFault("unresolved");
  }
  if (addresses.length === 0) throw new FetchFault("unresolved");
  if (!addresses.every((address) => isIP(address) !== 0 && mayConnect(address)))
    throw new FetchFault("address");
  return addresses;
}
