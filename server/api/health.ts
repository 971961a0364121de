import { isDatabaseReady } from "@/server/domain/health";
import { VERSION } from "@/server/version";
import type { Outgoing } from "./transport";

let isDraining = false;

/** From now on this process is not ready: it finishes what it has and takes nothing new. */
export function drain(): void {
  isDraining = true;
}

/** `/healthz`: this process lives. */
export async function health(): Promise<Outgoing> {
  return answer(200, { status: "ok" });
}

/** `/readyz`: this process can do work; 503 while it drains or the database does not answer. */
export async function readiness(): Promise<Outgoing> {
  if (isDraining) return answer(503, { status: "draining" });
  const database = await isDatabaseReady();
  return database
    ? answer(200, { status: "ready" })
    : answer(503, { status: "unavailable", reason: "The database does not answer." });
}

function answer(status: number, body: object): Outgoing {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-capstan-version": VERSION,
  };
  return { status, headers, body: JSON.stringify(body) };
}
