import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { env } from "@/server/platform/settings/env";
import { setSettings } from "@/testing/settings";

export type Received = { path: string; body: string; headers: Record<string, unknown> };

/**
 * A proxy between the product and the sandbox that records the bytes on the wire, by attempt. Once `before` has resolved, it
 * forwards method, path, body and the attempt's id, and returns status, content type and body. `stop` restores the sandbox's
 * own address.
 */
export async function tapSandbox({ before = async () => {} }: { before?(): Promise<unknown> } = {}) {
  const behind = env.SANDBOX_URL ?? "";
  const received = new Map<string, Received[]>();
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const attemptId = String(request.headers["x-attempt-id"] ?? "");
    const seen = { path: request.url ?? "", body: body.toString("utf8"), headers: request.headers };
    received.set(attemptId, [...(received.get(attemptId) ?? []), seen]);
    await before();
    const answer = await fetch(`${behind}${request.url}`, {
      method: request.method ?? "POST",
      headers: { "content-type": "application/json", "x-attempt-id": attemptId },
      ...(body.byteLength > 0 ? { body } : {}),
    }).catch(() => null);
    // A connection that the sandbox drops is dropped for the product, too.
    if (!answer) return void response.destroy();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  setSettings({ SANDBOX_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  return {
    /** The requests of this attempt to the sandbox. */
    of: (attemptId: string): Received[] => received.get(attemptId) ?? [],
    /** The number of requests to the sandbox. */
    size: () => [...received.values()].flat().length,
    async stop() {
      setSettings({ SANDBOX_URL: behind });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
