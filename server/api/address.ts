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

export { networkOf } from "@/server/network-of";
