import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * A real HTTP server on this machine: passes on each request with its whole body, counts connections, and `stop` closes open
 * ones.
 */
export async function listen(
  handle: (
    request: IncomingMessage,
    body: string,
    response: ServerResponse,
    bytes: Uint8Array,
  ) => void | Promise<void>,
  /** Zero means any free port. */
  wantedPort = 0,
) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      handle(request, bytes.toString("utf8"), response, bytes);
    });
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(wantedPort, "127.0.0.1", listening));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    connections: () => connections,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
