import { isDatabaseReady } from "@/server/domain/health";
import { jsonAnswer } from "./plain";
import type { Incoming, Outgoing } from "./transport";

/** `/healthz`: this process lives. */
export async function health(incoming: Incoming): Promise<Outgoing> {
  return answer(incoming, 200, { status: "ok" });
}

/** `/readyz` of a process that stops: it finishes what it has and takes nothing new. */
export async function draining(incoming: Incoming): Promise<Outgoing> {
  return answer(incoming, 503, { status: "draining" });
}

/** `/readyz`: this process can do work; 503 while the database does not answer. */
export async function readiness(incoming: Incoming): Promise<Outgoing> {
  const database = await isDatabaseReady();
  return database
    ? answer(incoming, 200, { status: "ready" })
    : answer(incoming, 503, { status: "unavailable", reason: "The database does not answer." });
}

function answer(incoming: Incoming, status: number, body: object): Outgoing {
  return jsonAnswer(incoming, status, JSON.stringify(body));
}
