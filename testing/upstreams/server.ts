import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "@/testing/listener";
import type { MadeCase } from "./made";
import { madePlayer } from "./made-server";
import type { Answer, UpstreamCase } from "./upstream";

/* A server that plays the cases of the corpus over HTTP. */

export type Upstream = {
  url: string;
  /** The bodies of the requests that named a case, oldest first. */
  received(name: string): unknown[];
  /** Sends this response to the next request, whichever case it names. */
  answerNext(answer: Answer): void;
  /** Restarts a case that returns no text, and counts its requests. */
  made: Pick<ReturnType<typeof madePlayer>, "begin" | "count">;
  stop(): Promise<void>;
};

/**
 * Starts a server that plays each case for the model of its name. For a vendor with fixed models, the text `case NAME` in the
 * prompt names the case.
 */
export async function startUpstream(
  cases: readonly UpstreamCase[],
  made: readonly MadeCase[] = [],
): Promise<Upstream> {
  const player = madePlayer(made);
  const byName = new Map(cases.map((each) => [each.name, each]));
  const arrived = new Map<string, unknown[]>();
  let next: Answer | null = null;
  const { port, stop } = await listen((request, body, response) => {
    const answered = player.answer(request, body, `http://${request.headers.host}`);
    if (answered) return play(answered, response);
    if (request.method === "GET") return answerAccount(response);
    const name = nameIn(body, byName);
    const played = byName.get(name);
    if (!played) return answerUnknown(response);
    const requests = [...(arrived.get(name) ?? []), JSON.parse(body)];
    arrived.set(name, requests);
    const first = requests.length % 2 === 1 ? played.first : undefined;
    const refusal = played.refuses?.find(({ members }) => members.every((each) => each in JSON.parse(body)));
    const isStream = /"stream":\s*true/.test(body) || /:streamGenerateContent/.test(request.url ?? "");
    const answer =
      next ??
      refusal?.answer ??
      first ??
      (isStream ? played.streamed : played.whole) ??
      played.whole ??
      played.streamed;
    next = null;
    if (answer) void play(answer, response);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    received: (name) => arrived.get(name) ?? [],
    answerNext(answer) {
      next = answer;
    },
    made: player,
    stop,
  };
}

function nameIn(body: string, cases: Map<string, UpstreamCase>): string {
  const model = /"model":\s*"([^"]+)"/.exec(body)?.[1] ?? "";
  return cases.has(model) ? model : (/\bcase ([a-z0-9-]+)/.exec(body)?.[1] ?? "");
}

/** Answers the check of a new connection, which lists models or reads the account. */
function answerAccount(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ object: "list", data: [], models: [], type: "user", balance: 1 }));
}

function answerUnknown(response: ServerResponse): void {
  response.writeHead(404, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { code: "model_not_found", message: "No such case." } }));
}

/** A reset discards bytes that its receiver has not read yet, so the receiver gets this long to read. */
const READ_MS = 200;

/** Writes an answer piece by piece. */
export async function play(
  { status = 200, headers = {}, body }: Answer,
  response: ServerResponse,
): Promise<void> {
  response.on("error", () => {}); // the client may have disconnected
  const { "content-type": type = "application/json", ...others } = headers;
  response.writeHead(status, { ...(type === "" ? {} : { "content-type": type }), ...others });
  if (!Array.isArray(body)) return void response.end(JSON.stringify(body));
  response.flushHeaders();
  for (const piece of body) {
    if (response.destroyed) return;
    if (piece === "reset") {
      await sleep(READ_MS);
      return void response.socket?.resetAndDestroy();
    }
    if (typeof piece === "object" && "pauseMs" in piece) await sleep(piece.pauseMs);
    else await new Promise<void>((resolve) => response.write(piece, () => resolve()));
  }
  response.end();
}
