import type { GetStepTools, InngestFunction } from "inngest";
import { systemCtx } from "@/server/domain/ctx";
import type { Json, Step } from "@/server/platform/durable/step";
import { runDueTasks } from "@/server/worker/periodic-tasks";
import type { Flow } from "./flow";
import { functions } from "./functions/registry.gen";
import { inngest } from "./sdk";

/** A flow as a function of a real Inngest server. */
export function toInngest({ id, event, retries, run }: Flow): InngestFunction.Any {
  const { name, turns, per } = event;
  return inngest.createFunction(
    {
      id,
      triggers: [{ event: name }],
      retries: retries as 10, // the SDK's type lists the numbers up to 20
      concurrency: per ? { key: `event.data.${per}`, limit: turns } : turns,
    },
    // Sound because only `sendEvents` sends these events, each with its own data.
    ({ event, ...given }) => run(systemCtx(id), event.data as never, durableStep(given)),
  );
}

/**
 * The periodic tasks as a cron, for deployments whose processes do not stay up. In others the processes have already run the
 * tasks.
 */
const periodicTasks = inngest.createFunction(
  { id: "periodic-tasks", triggers: [{ cron: "* * * * *" }], retries: 0, concurrency: 1 },
  () => runDueTasks(),
);

/** The functions that `/api/inngest` serves. */
export const served: InngestFunction.Any[] = [...functions.map(toInngest), periodicTasks];

/** The SDK's step tools as the `Step` that flows take. */
export function durableStep({ step, runId }: { step: GetStepTools<typeof inngest>; runId: string }): Step {
  return {
    runId,
    async run<T extends Json | undefined>(id: string, work: () => Promise<T>): Promise<T> {
      // Sound because T is JSON: the value that the engine stored and read back has the shape that `work` returned.
      // `undefined` returns as null, but a flow ignores the result of a step that returns nothing.
      return (await step.run(id, work)) as T;
    },
    // `step.sleep` would round to whole seconds.
    sleep: (id, ms) => step.sleepUntil(id, new Date(Date.now() + Math.max(ms, 0))),
  };
}
