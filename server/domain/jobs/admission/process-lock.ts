import { randomInt } from "node:crypto";
import { openListener } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";

/*
 * PostgreSQL drops this lock when the process ends, so others see at once that the process of a request is
 * gone. The lock has a session of its own, in which the server probes a silent client every second.
 */

const RECONNECT_MS = 500;
const NOTICES_SILENCE = "-c tcp_keepalives_idle=1 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3";

// The web process runs our modules twice, once in Next's bundle; both copies share the lock.
const shared = globalThis as { capstanProcessLock?: number | null }; // our own slot, written only here

/**
 * The advisory lock number of this process; null while the lock is not held, and then others cannot test
 * whether the process is alive.
 */
export const processLock = (): number | null => shared.capstanProcessLock ?? null;

/**
 * Takes the lock, and takes it again after a lost connection. Throws if the database cannot be reached the
 * first time.
 */
export async function holdProcessLock(): Promise<{ stop(): Promise<void> }> {
  const number = randomInt(1, 2 ** 47);
  let isStopped = false;
  let client: ReturnType<typeof openListener> | null = null;

  async function take(): Promise<void> {
    const mine = openListener("capstan-process", NOTICES_SILENCE);
    client = mine;
    const lost = () => {
      if (client !== mine) return;
      client = null;
      shared.capstanProcessLock = null;
      void mine.end().catch(() => {});
      if (!isStopped) setTimeout(() => void take().catch(tellLoss), RECONNECT_MS).unref();
    };
    mine.on("error", lost);
    mine.on("end", lost);
    try {
      await mine.connect();
      await mine.query("SELECT pg_advisory_lock($1)", [number]);
    } catch (cause) {
      lost();
      throw cause;
    }
    if (client === mine) shared.capstanProcessLock = number;
  }

  await take();
  return {
    async stop() {
      isStopped = true;
      shared.capstanProcessLock = null;
      const held = client;
      client = null;
      await held?.end();
    },
  };
}

const tellLoss = (cause: unknown) => log.warn({ err: cause }, "the lock of this process could not be taken");
