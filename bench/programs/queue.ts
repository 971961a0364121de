import { createInterface } from "node:readline";
import { Logger, run } from "graphile-worker";

/*
 * Runs graphile-worker without Capstan: adds one job at a time and measures when its task starts. Each line of input is a
 * number of jobs; each line of output is the list of milliseconds from add to start, one per job.
 */

declare global {
  namespace GraphileWorker {
    interface Tasks {
      "bench-start": { number: number };
    }
  }
}

let started: () => void = () => {};
const runner = await run({
  connectionString: process.env.DATABASE_URL,
  schema: "bench_queue",
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: { "bench-start": async () => started() },
});

async function once(number: number): Promise<number> {
  const start = new Promise<number>((resolve) => {
    started = () => resolve(performance.now());
  });
  const added = performance.now();
  await runner.addJob("bench-start", { number });
  return (await start) - added;
}

for await (const line of createInterface({ input: process.stdin })) {
  const samples: number[] = [];
  for (let number = 0; number < Number(line); number++) {
    samples.push(await once(number));
    await new Promise((resolve) => setTimeout(resolve, 5)); // the worker removes the job meanwhile
  }
  process.stdout.write(`${JSON.stringify(samples)}\n`);
}
await runner.stop();
