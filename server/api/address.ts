import { env } from "@/server/env";

/**
 * The address of the caller. Of `X-Forwarded-For` only the entries written by our own proxies are believed:
 * TRUSTED_PROXIES says how many stand before us, none when it is not set.
 */
export function clientAddress(forwardedFor: string | undefined, socketAddress: string): string {
  if (forwardedFor === undefined) return socketAddress;
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  if (socketAddress) hops.push(socketAddress);
  return (
    hops.at(-1 - (socketAddress ? env.TRUSTED_PROXIES : Math.max(0, env.TRUSTED_PROXIES - 1))) ??
    hops[0] ??
    ""
  );
}

/**
 * Who shares a limit by address: one IPv4 address, or the /64 that a single household or server has of IPv6, where
 * counting single addresses would count nothing.
 */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill("0"), ...last].slice(0, 4).join(":");
}
