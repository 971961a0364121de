import { setLiveProcesses } from "@/server/api/rate-limit";
import { access } from "@/server/domain/access";
import { writeConnectionOutcomes } from "@/server/domain/connections";
import { PERIODIC_TASKS, startPeriodicTasks } from "@/server/worker/periodic-tasks";

/**
 * The work of a web process besides answering requests. Starts at once; `stop` ends each task and writes the
 * recorded uses of keys and sessions, and the outcomes of connections.
 */
export async function startBackground(): Promise<{ stop(): Promise<void> }> {
  const watch = await access.watchChanges();
  const count = async () => setLiveProcesses(await access.countWebProcesses());
  await count();
  const tasks = await startPeriodicTasks([
    ...PERIODIC_TASKS,
    { name: "count-web-processes", everyMs: 5_000, isOwn: true, pass: count },
  ]);
  return {
    async stop() {
      await tasks.stop();
      await watch.stop();
      await access.writeUses();
      await writeConnectionOutcomes();
    },
  };
}
