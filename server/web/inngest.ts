import { setTimeout as sleep } from "node:timers/promises";
import { log } from "@/server/platform/log/log";
import { usesInngestServer } from "@/server/platform/settings/env";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Registers our functions with the configured Inngest server, as its SDK does on a PUT of /api/inngest, and tries again until the
 * server accepts. Does nothing without an Inngest server. Resolves when registered or stopped.
 */
export function registerFunctions(url: string, stopped: AbortSignal): Promise<void> {
  return usesInngestServer ? untilRegistered(new URL("/api/inngest", url), stopped) : Promise.resolve();
}

async function untilRegistered(url: URL, stopped: AbortSignal): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !stopped.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const answer = await fetch(url, { method: "PUT", signal: stopped }).catch((error: Error) => error);
    if (answer instanceof Response && answer.ok) {
      log.info({ status: answer.status }, "functions are registered with the Inngest server");
      return;
    }
    const why = answer instanceof Response ? (await answer.text()).slice(0, 300) : answer.message;
    if (stopped.aborted) return;
    log.warn({ why, pauseMs }, "the Inngest server did not accept our functions; trying again");
    await sleep(pauseMs, undefined, { signal: stopped }).catch(() => {}); // an abort ends the loop
  }
}
