import { listen } from "./listener";

export type Received = {
  headers: Record<string, string>;
  body: string;
  path: string;
};

/** The receiver's reaction to a request: a status, `silent` to never respond, or `close` to hang up. */
export type Reaction = number | { status: number; headers: Record<string, string> } | "silent" | "close";

/** A receiver of webhooks on this machine, over real HTTP: reacts as configured and keeps received requests. */
export async function startReceiver(
  react: (request: Received, number: number) => Reaction | Promise<Reaction> = () => 204,
) {
  const received: Received[] = [];
  let reaction = react;
  const { port, connections, stop } = await listen(async (request, body, response) => {
    const one: Received = {
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      body,
      path: request.url ?? "",
    };
    received.push(one);
    const answer = await reaction(one, received.length);
    if (answer === "silent") return;
    if (answer === "close") return void response.socket?.destroy();
    const { status, headers } = typeof answer === "number" ? { status: answer, headers: {} } : answer;
    response.writeHead(status, headers).end(status === 204 ? undefined : "thank you");
  });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    connections,
    reactWith(next: typeof react) {
      reaction = next;
    },
    stop,
  };
}
