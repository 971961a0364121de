import { createServer, type IncomingMessage } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { SELF_SIGNED } from "./self-signed";

/** A proxy's response to CONNECT: an HTTP status that refuses, or a named behaviour. */
export type ProxyAnswer =
  | "tunnel"
  | number
  /** Closes the connection without a response. */
  | "close"
  | "reset"
  | "silent"
  /** Sends something that is not HTTP. */
  | "garbage"
  /** Opens the tunnel with bytes of its own in the tunnel. */
  | "early bytes"
  /** Opens the tunnel, then closes it. */
  | "tunnel that closes"
  /** Opens the tunnel, then resets it at the first bytes. */
  | "tunnel that resets"
  /** Opens the tunnel, then accepts bytes and sends none. */
  | "tunnel that is silent";

/**
 * A real proxy on this machine. Whatever address it is asked for, its tunnels lead to the socket that `reach` connects, so
 * that public addresses can be simulated.
 */
export async function startProxy(reach: () => Socket, { isSecure = false } = {}) {
  const asked: { authority: string; headers: IncomingMessage["headers"] }[] = [];
  const others: string[] = [];
  const sockets = new Set<Socket>();
  let answers: ProxyAnswer[] = ["tunnel"];
  const server = isSecure ? createSecureServer(SELF_SIGNED) : createServer();
  server.on("request", (request, response) => {
    others.push(`${request.method} ${request.url}`);
    response.writeHead(400).end();
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    asked.push({ authority: request.url ?? "", headers: request.headers });
    socket.on("error", () => {});
    answer(answers.length > 1 ? answers.shift() : answers[0], socket, reach);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // set while it listens
  return {
    port,
    url: `${isSecure ? "https" : "http"}://127.0.0.1:${port}`,
    asked,
    /** Requests other than CONNECT. */
    others,
    authorities: () => asked.map(({ authority }) => authority),
    /** Sets the responses in turn, the last of which repeats, and clears `asked`. */
    answer(...next: ProxyAnswer[]) {
      answers = next;
      asked.length = 0;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const OPEN = "HTTP/1.1 200 Connection established\r\n\r\n";

function answer(kind: ProxyAnswer | undefined, socket: Socket, reach: () => Socket): void {
  if (typeof kind === "number")
    return void socket.end(`HTTP/1.1 ${kind} No\r\ncontent-length: 4\r\n\r\nno!!`);
  switch (kind) {
    case "close":
      return void socket.end();
    case "reset":
      return void socket.resetAndDestroy();
    case "garbage":
      return void socket.end("SSH-2.0-OpenSSH_9.2\r\n");
    case "early bytes":
      return void socket.write(`${OPEN}hello`);
    case "tunnel that closes":
      return void socket.end(OPEN);
    case "tunnel that resets":
      socket.once("data", () => socket.resetAndDestroy());
      return void socket.write(OPEN);
    case "tunnel that is silent":
      socket.resume();
      return void socket.write(OPEN);
    case "tunnel": {
      const target = reach().once("connect", () => {
        socket.write(OPEN);
        socket.pipe(target).pipe(socket);
      });
      target.on("error", () => socket.destroy());
      socket.on("close", () => target.destroy());
      return;
    }
    default: // stays silent
  }
}
