import { isDatabaseReady } from "@/server/domain/health";
import { jsonAnswer } from "./answers/plain";
import type { Incoming, Outgoing } from "./transport";

/** `/healthz`: the process is alive. */
export async function healthz(incoming: Incoming): Promise<Outgoing> {
  return answer(incoming, 200, { status: "ok" });
}

/** `/readyz` of a stopping process: it finishes its work and accepts nothing new. */
export async function draining(incoming: Incoming): Promise<Outgoing> {
  return answer(incoming, 503, { status: "draining" });
}

/** `/readyz`: the process can do work; 503 while the database does not respond. */
export async function readyz(incoming: Incoming): Promise<Outgoing> {
  const database = await isDatabaseReady();
  return database
    ? answer(incoming, 200, { status: "ready" })
    : answer(incoming, 503, { status: "unavailable", reason: "The database does not respond." });
}

function answer(incoming: Incoming, status: number, body: object): Outgoing {
  return jsonAnswer(incoming, status, JSON.stringify(body));
}
