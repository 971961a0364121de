import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/*
 * Rules for the targets of our requests. A host name is checked by the addresses it resolves to, at the moment of connecting; an
 * address is checked in binary, independent of how it was written.
 */

/** The error code of a connection that was refused because its address is private. */
export const PRIVATE_ADDRESS = "PRIVATE_ADDRESS";

const reserved = new BlockList();
for (const range of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]) {
  const [network = "", bits] = range.split("/");
  reserved.addSubnet(network, Number(bits), "ipv4");
}
/** Ranges inside global unicast that are tunnels, documentation or identifiers: Teredo, ORCHID, 6to4 and similar. */
for (const range of ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]) {
  const [network = "", bits] = range.split("/");
  reserved.addSubnet(network, Number(bits), "ipv6");
}
/** IPv6 is public only inside global unicast; loopback, mapped, NAT64, unique local and link-local all lie outside. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** True if our requests may go to this literal address. Compared in binary; anything unclear is not public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address, "ipv4");
  if (family === 6 && !address.includes("%"))
    return globalUnicast.check(address, "ipv6") && !reserved.check(address, "ipv6");
  return false;
}

/** True if the host is a literal address that is not public. Literal addresses never pass through `lookup`. */
export function isPrivateLiteral(url: URL): boolean {
  const literal = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  return isIP(literal) !== 0 && !isPublicAddress(literal);
}

type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A resolver that fails if any address is not public, so that the checked address is the one connected to. */
export const publicOnly =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const first = addresses?.[0];
      if (error || !first) {
        callback(error ?? Object.assign(new Error("no address"), { code: "ENOTFOUND" }), "", 0);
      } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
        callback(Object.assign(new Error("private address"), { code: PRIVATE_ADDRESS }), "", 0);
      } else if (options.all) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };

/** `publicOnly` with the resolver of this machine. */
export const publicLookup = publicOnly((hostname, options, callback) => lookup(hostname, options, callback));

/** Answers every lookup with checked addresses; the name is not resolved again. */
export function pinnedTo(addresses: string[]): LookupFunction {
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

export type AddressRules = { allowHttp: boolean; allowPrivateAddresses: boolean };

export const PRIVATE_REFUSED = "The URL points to a private address. Use a public one.";

/** The reason to refuse requests to this URL, judged by its text; null if they are allowed. */
export function refusalOfAddress(url: URL, rules: AddressRules): string | null {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "The URL must start with https.";
  if (url.protocol === "http:" && !rules.allowHttp) return "The URL must start with https.";
  if (url.username || url.password) return "The URL must not contain a user name or password.";
  const isLocalName = /(^|\.)localhost\.?$/.test(url.hostname);
  if (!rules.allowPrivateAddresses && (isLocalName || isPrivateLiteral(url))) return PRIVATE_REFUSED;
  return null;
}
