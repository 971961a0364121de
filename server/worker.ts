import { migrateEngine, startEngine } from "@/inngest/embedded";
import { functions } from "@/inngest/functions/registry.gen";
import { startChores } from "@/server/chores";
import { closeDatabase, relaxedPool } from "@/server/db";
import { releaseAllLeases } from "@/server/domain/attempts";
import { writeMet } from "@/server/domain/credentials";
import * as pins from "@/server/domain/pins";
import { announceVaultKeys } from "@/server/domain/vault";
import { env, usesInngestServer } from "@/server/env";
import { log } from "@/server/log";
import { checkSettings, settingWarnings } from "@/server/secrets";
import { startSigns } from "@/server/web/signs";

const GRACE_MS = 25_000;

/** The worker process: the embedded engine and the sweeper. With a real Inngest server it only sweeps. */
async function main() {
  checkSettings();
  for (const warning of settingWarnings()) log.warn(warning);
  const presence = await announceVaultKeys("worker");
  if (!usesInngestServer) await migrateEngine(env.DATABASE_URL);
  const chores = await startChores();
  const engine = usesInngestServer ? null : await startEngine({ functions, pool: relaxedPool, log });
  const { HOST: host, WORKER_PORT: port } = env;
  const signs = port === undefined ? null : await startSigns({ host, port });
  log.info({ engine: engine ? "embedded" : "inngest", signs: signs?.url }, "worker ready");

  let isStopping = false;
  const stop = async (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    signs?.drain();
    pins.stopClaiming();
    log.info({ signal }, "worker stops: no new work, running calls end or are handed over");
    await chores.stop();
    await Promise.all([engine?.stop(), releaseAllLeases(GRACE_MS)]);
    await writeMet();
    await presence.stop();
    await signs?.stop();
    await closeDatabase();
    process.exit(0);
  };
  process.once("SIGTERM", (signal) => void stop(signal));
  process.once("SIGINT", (signal) => void stop(signal));
}

main().catch((cause) => {
  log.fatal({ err: cause }, "the worker could not start");
  process.exit(1);
});
