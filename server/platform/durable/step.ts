export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The interface of a durable engine. A step runs at least once, and after a crash or a sleep the flow may begin again from its
 * start, so its rows decide at every step. Results are JSON, ids and states, never content, because an engine may store them.
 */
export interface Step {
  /** Id of this run, the same on every delivery and restart. */
  readonly runId: string;
  /** Runs `work`, or returns its result if the engine has stored one. The engine retries a throw. */
  run<T extends Json | undefined>(id: string, work: () => Promise<T>): Promise<T>;
  /** Waits this many milliseconds, surviving restarts. */
  sleep(id: string, ms: number): Promise<void>;
}
