import { setLiveProcesses } from "@/server/api/rate-limit";
import { startChores } from "@/server/chores";
import { access } from "@/server/domain/access";
import { writeMet } from "@/server/domain/credentials";
import { pruneSignInFailures } from "@/server/domain/organizations";
import { log } from "@/server/log";

const COUNT_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 3_600_000;

/** What a web process does besides answering. Starts at once; `stop` ends each and writes what is noted. */
export async function startWebChores(): Promise<{ stop(): Promise<void> }> {
  const watch = await access.watchChanges();
  const count = async () => setLiveProcesses(await access.countWebProcesses());
  await count();
  const timers = [every(COUNT_EVERY_MS, count), every(PRUNE_EVERY_MS, () => pruneSignInFailures(new Date()))];
  const chores = await startChores();
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await chores.stop();
      await watch.stop();
      await access.writeUses();
      await writeMet();
    },
  };
}

function every(ms: number, work: () => Promise<void>): NodeJS.Timeout {
  return setInterval(() => work().catch((error) => log.warn({ err: error }, "a periodic task failed")), ms);
}
