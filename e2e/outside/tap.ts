import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export type Seen = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  status: number | null;
};

export type Tap = Awaited<ReturnType<typeof openTap>>;

/**
 * A proxy between a client and the product: forwards everything unchanged, records the requests, and can answer the next one
 * itself, like a load balancer.
 */
export async function openTap(target: string) {
  const seen: Seen[] = [];
  let refusal: { status: number; headers: Record<string, string> } | null = null;
  let arrived = () => {};

  async function pass(incoming: IncomingMessage, answer: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = "GET", url: path = "/" } = incoming;
    const { headers } = incoming;
    const one: Seen = { method, path, headers, body: body.toString("utf8"), status: null };
    seen.push(one);
    arrived();
    if (refusal) {
      one.status = refusal.status;
      answer.writeHead(refusal.status, refusal.headers).end('{"error": {"message": "Try again."}}');
      refusal = null;
      return;
    }
    const onward = request(new URL(path, target), { method, headers: incoming.headers }, (reply) => {
      one.status = reply.statusCode ?? null;
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
      reply.on("error", () => answer.destroy());
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    onward.end(body);
  }

  const server = createServer(
    (incoming, answer) => void pass(incoming, answer).catch(() => answer.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // set while it listens

  return {
    url: `http://127.0.0.1:${port}`,
    /** The requests since the mark. */
    since: (mark: number): Seen[] => seen.slice(mark),
    mark: () => seen.length,
    /** Answers the next request with 503 and a Retry-After of one second, without forwarding it. */
    refuseNext() {
      refusal = { status: 503, headers: { "content-type": "application/json", "retry-after": "1" } };
    },
    /** Resolves when the next request has arrived. */
    next: () =>
      new Promise<void>((resolve) => {
        arrived = resolve;
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
