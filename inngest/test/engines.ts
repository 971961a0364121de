import { serve } from "inngest/next";
import { expect, onTestFinished, vi } from "vitest";
import { pool } from "@/server/platform/db";
import { type OutgoingEvent, sendEvents } from "../client";
import { startEngine } from "../embedded/engine";
import { toWake } from "../embedded/enqueue";
import type { Flow } from "../flow";
import { inngest } from "../sdk";
import { toInngest } from "../server";
import { type Handlers, startProtocolClient } from "./protocol-client";
import { quiet } from "./world";

/** An engine that runs the given flows until the test ends. `run` sends a wake and resolves when the woken run has ended. */
export type EngineUnderTest = { run(event: OutgoingEvent, runId?: string): Promise<unknown> };
type Start = (flows: Flow[], options?: { losesAnswer?: () => boolean }) => Promise<EngineUnderTest>;

const SIGNING_KEY = "signkey-test-0123456789abcdef0123456789abcdef";

async function startEmbedded(flows: Flow[]): Promise<EngineUnderTest> {
  const engine = await startEngine({ flows, pool, log: quiet, backoffMs: () => 0 });
  onTestFinished(() => engine.stop());
  return {
    async run(event) {
      const { key } = toWake(event);
      await sendEvents([event]);
      const rest = () =>
        pool.query(
          `SELECT key FROM run_slot WHERE key = $1
           UNION ALL SELECT key FROM graphile_worker.jobs WHERE key = $1 AND attempts < max_attempts`,
          [key],
        );
      await vi.waitFor(async () => expect((await rest()).rows).toEqual([]), {
        timeout: 60_000,
        interval: 10,
      });
    },
  };
}

/** Plays an Inngest server against the SDK's public HTTP handler. Sleeps end at once. */
const served =
  (checkpointing: boolean): Start =>
  async (flows, { losesAnswer } = {}) => {
    const server = await startProtocolClient({
      signingKey: SIGNING_KEY,
      checkpointing,
      ...(losesAnswer && { losesAnswer }),
    });
    vi.stubEnv("INNGEST_BASE_URL", server.url);
    vi.stubEnv("INNGEST_SIGNING_KEY", SIGNING_KEY);
    vi.stubEnv("INNGEST_EVENT_KEY", "event-key");
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await server.close();
    });
    const functions = flows.map(toInngest);
    // The client reads the environment again, as in a new process. The handlers' own request type is wider than needed.
    const handlers = serve({ client: inngest.setEnvVars(), functions }) as unknown as Handlers;
    await server.register(handlers);
    return {
      async run(event, runId) {
        const runs = await server.send(handlers, event, runId);
        for (const { status, functionId, output } of runs)
          if (status !== "completed") throw new Error(`${functionId} failed: ${JSON.stringify(output)}`);
      },
    };
  };

export const startServed = served(false);

/** Both engines; the Inngest server with and without the SDK's checkpoints. */
export const ENGINES: { name: string; start: Start; isEmbedded: boolean }[] = [
  { name: "the embedded engine", start: startEmbedded, isEmbedded: true },
  { name: "an Inngest server, through the SDK's HTTP handler", start: startServed, isEmbedded: false },
  { name: "an Inngest server with checkpoints", start: served(true), isEmbedded: false },
];
