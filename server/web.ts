import { releaseAllLeases } from "@/server/domain/executions";
import { holdProcessLock } from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import { announceVaultKeys } from "@/server/domain/vault";
import { closeDatabase, pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { exitRefused, Refusal } from "@/server/platform/settings/refusal";
import { checkStart } from "@/server/start-up";
import { startBackground } from "@/server/web/background";
import { registerFunctions } from "@/server/web/inngest";
import { startPages } from "@/server/web/pages";
import { startServer } from "@/server/web/server";

const GRACE_MS = 25_000;

/**
 * The web process: answers the API, its documents, artifacts and probes itself, and hands everything else to
 * Next.
 */
async function main() {
  await checkStart(pool, env.PORT);
  const presence = await announceVaultKeys("web");
  const dev = process.env.NODE_ENV === "development";
  const lock = await holdProcessLock();
  const background = await startBackground();
  const pages = await startPages({ dev, host: env.HOST, port: env.PORT });
  const server = await startServer({ host: env.HOST, port: env.PORT, pages });
  log.info({ url: server.url }, "web ready");
  const stopping = new AbortController();
  void registerFunctions(server.url, stopping.signal);

  let isStopping = false;
  const stop = async (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    stopping.abort();
    pins.stopClaiming(); // of bulks, whose steps an Inngest server calls here
    log.info({ signal }, "web stops: no new requests, running ones end");
    await Promise.all([server.stop(GRACE_MS), releaseAllLeases(GRACE_MS)]);
    await background.stop();
    await presence.stop();
    await lock.stop();
    await closeDatabase();
    process.exit(0);
  };
  process.once("SIGTERM", (signal) => void stop(signal));
  process.once("SIGINT", (signal) => void stop(signal));
}

main().catch((error) => {
  if (error instanceof Refusal) exitRefused(error);
  log.fatal({ err: error }, "the web process could not start");
  process.exit(1);
});
