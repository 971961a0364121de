import { log } from "@/server/log";

/** How often every process looks for what nobody else will move. */
export const SWEEP_EVERY_MS = 2_000;

/** Makes passes one after the other, with a rest between them, until stopped; one that fails is tried again by the next. */
export function startPasses(everyMs: number, pass: () => Promise<void>): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  const run = () =>
    pass()
      .catch((cause) => log.error({ err: cause }, "a pass failed; the next one tries again"))
      .then(() => {
        if (!isStopped) timer = setTimeout(next, everyMs);
      });
  const next = () => {
    running = run();
  };
  let timer = setTimeout(next, everyMs);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
