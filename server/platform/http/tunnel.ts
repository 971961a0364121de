import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import type { Socket } from "node:net";
import { codeOf, ProxyFault } from "./failures";

/**
 * Opens a tunnel through the proxy to the first of these authorities (`address:port`) to which the proxy connects. Throws
 * ProxyFault.
 */
export async function openTunnel(proxy: URL, authorities: string[], signal: AbortSignal): Promise<Socket> {
  let refused: ProxyFault | null = null;
  for (const authority of authorities) {
    const answer = await ask(proxy, authority, signal);
    if ("socket" in answer) return answer.socket;
    refused = new ProxyFault(
      answer.status === 407 ? "PROXY_CREDENTIALS" : "PROXY_REFUSED",
      `${answer.status}`,
    );
    if (answer.status === 407) break;
  }
  throw refused ?? new ProxyFault("PROXY_REFUSED", "no address");
}

type Answer = { socket: Socket } | { status: number };

/** Asks once for a tunnel. No part of a request is sent before the proxy has opened it. */
function ask(proxy: URL, authority: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = proxy.protocol === "https:" ? secureRequest : plainRequest;
    const request = send({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, "user-agent": "capstan", ...authorizationOf(proxy) },
      setHost: false,
      agent: false,
      signal,
    });
    request.once("connect", (response, socket: Socket, head) => {
      socket.on("error", () => {}); // a later error reaches the TLS connection inside
      const status = response.statusCode ?? 0;
      // The target speaks second in TLS, so bytes right behind the proxy's answer are not the target's.
      const isOpen = status >= 200 && status < 300 && head.length === 0;
      if (isOpen) return resolve({ socket });
      socket.destroy();
      resolve({ status });
    });
    // The error itself is dropped, because it may quote what the proxy sent.
    request.once("error", (error) => reject(new ProxyFault("PROXY_UNREACHABLE", codeOf(error) || "unknown")));
    request.end();
  });
}

function authorizationOf({ username, password }: URL): { "proxy-authorization"?: string } {
  if (!username && !password) return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
