import { isDatabaseReady } from "@/server/domain/health";
import { jsonAnswer } from "./plain";
import type { Incoming, Outgoing } from "./transport";

let isDraining = false;

/** From now on this process is not ready: it finishes what it has and takes nothing new. */
export function drain(): void {
  isDraining = true;
}

/** `/healthz`: this process lives. */
export async function health(incoming: Incoming): Promise<Outgoing> {
  return answer(incoming, 200, { status: "ok" });
}

/** `/readyz`: this process can do work; 503 while it drains or the database does not answer. */
export async function readiness(incoming: Incoming): Promise<Outgoing> {
  if (isDraining) return answer(incoming, 503, { status: "draining" });
  const database = await isDatabaseReady();
  return database
    ? answer(incoming, 200, { status: "ready" })
    : answer(incoming, 503, { status: "unavailable", reason: "The database does not answer." });
}

function answer(incoming: Incoming, status: number, body: object): Outgoing {
  return jsonAnswer(incoming, status, JSON.stringify(body));
}
