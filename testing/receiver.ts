import { createServer } from "node:http";
import type { Socket } from "node:net";

export type Received = {
  headers: Record<string, string>;
  body: string;
  path: string;
};

/** What the receiver does with a request: a status to answer, or `silent` to never answer, or `close` to hang up. */
export type Reaction = number | { status: number; headers: Record<string, string> } | "silent" | "close";

/** A receiver of webhooks on this machine, over real HTTP: answers as it is told and keeps what arrived. */
export async function startReceiver(react: (request: Received, number: number) => Reaction = () => 204) {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let reaction = react;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one: Received = {
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: Buffer.concat(chunks).toString("utf8"),
        path: request.url ?? "",
      };
      received.push(one);
      const answer = reaction(one, received.length);
      if (answer === "silent") return;
      if (answer === "close") return void response.socket?.destroy();
      const { status, headers } = typeof answer === "number" ? { status: answer, headers: {} } : answer;
      response.writeHead(status, headers).end(status === 204 ? undefined : "thank you");
    });
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    connections: () => connections,
    reactWith(next: typeof react) {
      reaction = next;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
