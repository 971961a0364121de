import { setLiveProcesses } from "@/server/api/rate-limit";
import { access } from "@/server/domain/access";
import * as jobs from "@/server/domain/jobs";
import { pruneSignInFailures } from "@/server/domain/organizations";
import * as pins from "@/server/domain/pins";
import { log } from "@/server/log";

const COUNT_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 3_600_000;

/** What a web process does besides answering. Starts at once; `stop` ends each and writes what is noted. */
export async function startChores(): Promise<{ stop(): Promise<void> }> {
  const watch = await access.watchChanges();
  const count = async () => setLiveProcesses(await access.countWebProcesses());
  await count();
  const timers = [every(COUNT_EVERY_MS, count), every(PRUNE_EVERY_MS, () => pruneSignInFailures(new Date()))];
  const sweepers = [jobs.startSweeper(), pins.startSweeper()];
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
      await watch.stop();
      await access.writeUses();
    },
  };
}

function every(ms: number, work: () => Promise<void>): NodeJS.Timeout {
  return setInterval(() => work().catch((error) => log.warn({ err: error }, "a chore failed")), ms);
}
