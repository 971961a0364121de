import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector, errors } from "undici";
import { env } from "@/server/platform/settings/env";
import { PRIVATE_ADDRESS, pinnedTo } from "./addresses";
import { codeOf } from "./failures";
import { isDirectAddress, isResolvedByProxy, leavesByProxy, type OutgoingTarget, portOf } from "./outgoing";
import { openTunnel } from "./tunnel";

/** Most addresses of a name that are tried through the proxy; IPv4 first, because a proxy may have no IPv6. */
const MOST_ADDRESSES = 4;

type Rules = {
  timeoutMs: number;
  /** Resolves and checks names; if unset, any address is allowed. */
  lookup: LookupFunction | undefined;
  /** True if the operator chose the address: a name that cannot be resolved here is then left to the proxy. */
  isOperators: boolean;
};

type Options = buildConnector.Options;
type Connect = buildConnector.connector;

/**
 * Connects to a target directly or, if the settings say so, through the proxy: with TLS to the target's own name inside a tunnel
 * to its checked address, or to its name if the proxy resolves it. For https, calls back only when TLS is established.
 */
export function connectorOf(rules: Rules): Connect {
  const { timeoutMs: timeout, lookup } = rules;
  const directly = buildConnector({ timeout, ...(lookup ? { lookup } : {}) });
  let inside: Connect | null = null;
  return (options, callback) => {
    if (!leavesByProxy(targetOf(options))) return directly(options, callback);
    inside ??= buildConnector({ timeout });
    connectThrough(options, { ...rules, inside }, callback);
  };
}

const targetOf = ({ protocol, hostname, port }: Options): OutgoingTarget => ({
  protocol,
  hostname,
  port: port ?? "",
});

type Way = Rules & { inside: Connect };

/** The time limit covers everything: name, proxy, tunnel and TLS. */
function connectThrough(options: Options, way: Way, callback: buildConnector.Callback): void {
  const stop = new AbortController();
  let isOver = false;
  const end = (settle: () => void) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    settle();
  };
  const timer = setTimeout(() => {
    end(() => callback(new errors.ConnectTimeoutError("no connection in time"), null));
    stop.abort();
  }, way.timeoutMs);
  reach(options, way, stop.signal).then(
    (socket) => {
      if (isOver) socket.destroy();
      else end(() => callback(null, socket));
    },
    (error: Error) => end(() => callback(error, null)),
  );
}

async function reach(options: Options, way: Way, signal: AbortSignal): Promise<Socket> {
  const port = portOf(targetOf(options));
  const addresses = await addressesOf(targetOf(options), way);
  const direct = addresses?.filter((address) => isDirectAddress(address, port)) ?? [];
  if (direct.length > 0) {
    const connect = buildConnector({ timeout: way.timeoutMs, lookup: pinnedTo(direct) });
    return established((callback) => connect(options, callback));
  }
  const hosts = addresses?.sort((a, b) => isIP(a) - isIP(b)).slice(0, MOST_ADDRESSES) ?? [options.hostname];
  const authorities = hosts.map((host) => (isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`));
  const tunnel = await openTunnel(new URL(env.OUTGOING_PROXY ?? ""), authorities, signal); // set, or leavesByProxy was false
  signal.addEventListener("abort", () => tunnel.destroy());
  return established((callback) => way.inside({ ...options, httpSocket: tunnel }, callback), tunnel);
}

/** The target's checked addresses; null if the proxy resolves the name. */
async function addressesOf(target: OutgoingTarget, { lookup, isOperators }: Way): Promise<string[] | null> {
  if (isIP(target.hostname) !== 0) return [target.hostname];
  if (isResolvedByProxy(target)) return null;
  try {
    return await new Promise((resolve, reject) => {
      (lookup ?? systemLookup)(target.hostname, { all: true }, (error, found) => {
        if (error) reject(error);
        else resolve([found].flat().map((each) => (typeof each === "string" ? each : each.address)));
      });
    });
  } catch (error) {
    if (isOperators && codeOf(error) !== PRIVATE_ADDRESS) return null;
    throw error;
  }
}

function established(connect: (callback: buildConnector.Callback) => void, tunnel?: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // TLS over a socket that is closed before it begins reports nothing.
    tunnel?.once("close", () => reject(Object.assign(new Error("tunnel closed"), { code: "ECONNRESET" })));
    connect((...[error, socket]) => (error ? reject(error) : resolve(socket)));
  });
}
