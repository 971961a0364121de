import { startEngine } from "@/inngest/embedded/engine";
import { migrateEngine } from "@/inngest/embedded/migrate";
import { functions } from "@/inngest/functions/registry.gen";
import { writeConnectionOutcomes } from "@/server/domain/connections";
import { releaseAllLeases } from "@/server/domain/executions";
import * as pins from "@/server/domain/pins";
import { announceVaultKeys } from "@/server/domain/vault";
import { closeDatabase, pool, relaxedPool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { env, usesInngestServer } from "@/server/platform/settings/env";
import { exitRefused, Refusal } from "@/server/platform/settings/refusal";
import { checkStart } from "@/server/start-up";
import { startProbes } from "@/server/web/probes";
import { startPeriodicTasks } from "@/server/worker/periodic-tasks";

const GRACE_MS = 25_000;

/** The worker process: the embedded engine and the periodic tasks. With a real Inngest server only the latter. */
async function main() {
  await checkStart(pool, env.WORKER_PORT);
  const presence = await announceVaultKeys("worker");
  if (!usesInngestServer) await migrateEngine(env.DATABASE_URL);
  const tasks = await startPeriodicTasks();
  const engine = usesInngestServer ? null : await startEngine({ flows: functions, pool: relaxedPool, log });
  const { HOST: host, WORKER_PORT: port } = env;
  const probes = port === undefined ? null : await startProbes({ host, port });
  log.info({ engine: engine ? "embedded" : "inngest", probes: probes?.url }, "worker ready");

  let isStopping = false;
  const stop = async (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    probes?.drain();
    pins.stopClaiming();
    log.info({ signal }, "worker stops: no new work, running calls end or are handed over");
    await tasks.stop();
    await Promise.all([engine?.stop(), releaseAllLeases(GRACE_MS)]);
    await writeConnectionOutcomes();
    await presence.stop();
    await probes?.stop();
    await closeDatabase();
    process.exit(0);
  };
  process.once("SIGTERM", (signal) => void stop(signal));
  process.once("SIGINT", (signal) => void stop(signal));
}

main().catch((cause) => {
  if (cause instanceof Refusal) exitRefused(cause);
  log.fatal({ err: cause }, "the worker could not start");
  process.exit(1);
});
