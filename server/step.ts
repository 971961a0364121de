export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What a durable flow asks of its engine. Results are stored between steps: JSON only, ids and states, never content. */
export interface Step {
  /** Names this run, the same each time that a step of it is delivered. */
  readonly runId: string;
  /** Runs `work` once; after a restart its stored result is returned instead. A throw is retried by the engine. */
  run<T extends Json | undefined>(id: string, work: () => Promise<T>): Promise<T>;
  /** Waits this many milliseconds, surviving restarts. */
  sleep(id: string, ms: number): Promise<void>;
}
