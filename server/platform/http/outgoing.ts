import { BlockList, isIP } from "node:net";
import { env } from "@/server/platform/settings/env";
import { readNoProxy } from "@/server/platform/settings/outgoing";

/*
 * Decides which connections go through the proxy in OUTGOING_PROXY. The proxies that the environment names for other programs
 * (HTTPS_PROXY and its like) are never used.
 */

/** A target as undici and `URL` name it: the port is empty if it is the scheme's own, and IPv6 may be in brackets. */
export type OutgoingTarget = { protocol: string; hostname: string; port: string };

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, "");
export const portOf = ({ protocol, port }: OutgoingTarget) => port || (protocol === "https:" ? "443" : "80");

/** True if connections to the target go through the proxy, as far as its name shows. */
export function leavesByProxy(target: OutgoingTarget): boolean {
  if (!env.OUTGOING_PROXY || target.protocol !== "https:") return false;
  const host = bareHost(target.hostname).replace(/\.$/, "");
  const port = portOf(target);
  if (/(^|\.)localhost$/.test(host) || isSandbox(target) || isDirectAddress(host, port)) return false;
  return !rules(port).some(
    (rule) => "host" in rule && (rule.isSuffix ? host.endsWith(`.${rule.host}`) : host === rule.host),
  );
}

/** True if this address is reached without the proxy, whatever name it belongs to. */
export function isDirectAddress(address: string, port: string): boolean {
  if (isIP(address) === 0) return false;
  if (loopback.check(address, isIP(address) === 4 ? "ipv4" : "ipv6")) return true;
  return rules(port).some((rule) => "has" in rule && rule.has(address));
}

/** True if the proxy gets the target's name instead of a checked address; literal addresses are always checked here. */
export const isResolvedByProxy = (target: OutgoingTarget): boolean =>
  env.OUTGOING_PROXY_RESOLVES && isIP(bareHost(target.hostname)) === 0 && leavesByProxy(target);

const rules = (port: string) =>
  env.OUTGOING_NO_PROXY.flatMap((entry) => readNoProxy(entry) ?? []).filter(
    (rule) => rule.port === null || rule.port === port,
  );

function isSandbox(target: OutgoingTarget): boolean {
  if (!env.SANDBOX_URL) return false;
  const sandbox = new URL(env.SANDBOX_URL);
  return bareHost(sandbox.hostname) === bareHost(target.hostname) && portOf(sandbox) === portOf(target);
}
