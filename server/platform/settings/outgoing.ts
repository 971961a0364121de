import { BlockList, isIP } from "node:net";

/* Syntax of the outgoing proxy's settings. */

/** True for an address without a path, such as `http://user:password@proxy.example.com:3128`. */
export function isProxyAddress(text: string): boolean {
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return false;
  const { hostname, port, pathname, search, hash, username, password } = new URL(text);
  return (
    hostname !== "" && port !== "0" && pathname + search + hash === "/" && isEncoded(username + password)
  );
}

/** True if percent signs in the text are escapes of UTF-8. */
function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** One entry of OUTGOING_NO_PROXY; a null `port` means every port. */
export type NoProxyRule = { port: string | null } & (
  | { host: string; isSuffix: boolean }
  | { has(address: string): boolean }
);

/**
 * Reads `host`, `.suffix` or `*.suffix` (every subdomain), an address, or a network such as `10.0.0.0/8`; all but networks may
 * have a port, IPv6 addresses in brackets. Null if the entry is none of these.
 */
export function readNoProxy(entry: string): NoProxyRule | null {
  if (isIP(entry) !== 0) return { port: null, has: networkOf(entry) };
  const [, network = "", bits = ""] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (bits) {
    const isNetwork = isIP(network) !== 0 && Number(bits) <= (isIP(network) === 4 ? 32 : 128);
    return isNetwork ? { port: null, has: networkOf(network, Number(bits)) } : null;
  }
  const [, prefix = "", bracketed = "", host = "", port = null] =
    /^(\*?\.)?(?:\[([^\]]+)\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (port !== null && (Number(port) < 1 || Number(port) > 65_535)) return null;
  if (bracketed) return !prefix && isIP(bracketed) === 6 ? { port, has: networkOf(bracketed) } : null;
  if (!host) return null;
  if (isIP(host) === 0) return { port, host, isSuffix: prefix !== "" };
  return prefix ? null : { port, has: networkOf(host) };
}

function networkOf(address: string, bits?: number): (address: string) => boolean {
  const family = (text: string) => (isIP(text) === 4 ? "ipv4" : "ipv6");
  const list = new BlockList();
  list.addSubnet(address, bits ?? (isIP(address) === 4 ? 32 : 128), family(address));
  return (one) => isIP(one) !== 0 && list.check(one, family(one));
}
