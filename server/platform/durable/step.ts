export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * What a durable flow asks of its engine. A step runs at least once, and after a crash or a sleep the flow may begin again from
 * its start: its rows decide at every step. Results are JSON, ids and states, never content: an engine may store them.
 */
export interface Step {
  /** Names this run, the same each time that it is delivered or begins again. */
  readonly runId: string;
  /** Runs `work`, or returns its result where the engine has stored one. A throw is retried by the engine. */
  run<T extends Json | undefined>(id: string, work: () => Promise<T>): Promise<T>;
  /** Waits this many milliseconds, surviving restarts. */
  sleep(id: string, ms: number): Promise<void>;
}
