import { env } from "@/server/platform/settings/env";

/**
 * The caller's address. Trusts only the entries of `X-Forwarded-For` that our own proxies wrote: TRUSTED_PROXIES is their number,
 * zero by default.
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
