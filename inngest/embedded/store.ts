import type { Envelope, Queryable, StoredEvent } from "./enqueue";
import type { Due } from "./time";

/** A step as the database has it; `value` is its result, or its error when it failed. */
export type StoredStep = {
  id: string;
  op: "run" | "sleep" | "event" | "invoke";
  status: "pending" | "done" | "failed";
  attempt: number;
  value: unknown;
  due: boolean | null;
};

/** A run this worker owns, as long as its fence holds. */
export type OwnedRun = {
  id: string;
  functionId: string;
  event: StoredEvent;
  fence: number;
  attempt: number;
  steps: StoredStep[];
};

/** A run to create; the columns of `engine_run` that it sets. */
export type NewRun = {
  id: string;
  function_id: string;
  limit_key?: string;
  limit_cap?: number;
  limit_key2?: string;
  limit_cap2?: number;
  once?: string;
};

export type StepWrite = {
  id: string;
  op: StoredStep["op"];
  status: StoredStep["status"];
  value?: unknown;
  attempt?: number;
  due?: Due;
  eventName?: string;
  condition?: string;
  matchPath?: string[];
  matchValue?: unknown;
  child?: NewRun;
  childEvent?: StoredEvent;
};

/** A wait whose condition SQL cannot decide. */
export type OpenWait = { run: string; step: string; condition: string; event: StoredEvent };

export type LiveRun = { id: string; event: StoredEvent; createdAt: Date };

/** The engine's statements, each one function of sql.ts. False, null and `lost` mean: the run is not ours. */
export function toStore(db: Queryable) {
  async function call<T>(name: string, ...values: unknown[]): Promise<T> {
    const places = values.map((_, index) => `$${index + 1}`).join(", ");
    const { rows } = await db.query<{ answer: T }>({
      name,
      text: `select ${name}(${places}) as answer`,
      values,
    });
    return rows[0]!.answer; // a function call answers exactly one row
  }
  return {
    receive: (worker: string, envelope: Envelope, runs: NewRun[]) =>
      call<{ started: string[]; open: OpenWait[] }>(
        "engine_receive",
        worker,
        envelope.event,
        envelope.occurrence,
        JSON.stringify(runs),
      ),
    settle: (run: string, step: string, value: unknown) =>
      call<void>("engine_settle", run, step, "done", JSON.stringify(value)),
    claim: (worker: string, run: string) => call<OwnedRun | null>("engine_claim", worker, run),
    reload: (run: OwnedRun) => call<OwnedRun | null>("engine_reload", run.id, run.fence),
    save: (run: OwnedRun, steps: StepWrite[]) =>
      call<boolean>("engine_save", run.id, run.fence, JSON.stringify(steps)),
    suspend: (run: OwnedRun, attempt: number, retry: Due | null, steps: StepWrite[]) =>
      call<"waiting" | "again" | "lost">(
        "engine_suspend",
        run.id,
        run.fence,
        attempt,
        retry,
        JSON.stringify(steps),
      ),
    finish: (run: OwnedRun, status: "completed" | "failed", result: unknown, announce: Envelope[]) =>
      call<boolean>(
        "engine_finish",
        run.id,
        run.fence,
        status,
        JSON.stringify(result ?? null),
        announce.length > 0 ? JSON.stringify(announce) : null,
      ),
    handOver: (run: OwnedRun, delayMs: number) => call<void>("engine_hand_over", run.id, run.fence, delayMs),
    beat: (worker: string, queue: string, expiryMs: number, dropped: string[]) =>
      call<boolean | null>("engine_beat", worker, queue, expiryMs, dropped),
    tidy: (keep: string) => call<void>("engine_tidy", keep),
    /** The name that jobs were taken in stays until it has been silent for so long: some may still be locked in it. */
    async leave(worker: string): Promise<void> {
      await db.query("delete from engine_worker where id = $1", [worker]);
    },
    /** Runs of a function that have not ended; with `match`, those whose event has this value at this path. */
    async live(functionId: string, match?: { path: string[]; value: unknown }): Promise<LiveRun[]> {
      const { rows } = await db.query<LiveRun>({
        name: "engine_live",
        text: `select id, event, created_at as "createdAt" from engine_run where ended_at is null and function_id = $1
          and ($2::text[] is null or coalesce(event #> $2, 'null') = $3::jsonb)`,
        values: [functionId, match?.path ?? null, match ? JSON.stringify(match.value ?? null) : null],
      });
      return rows;
    },
    async cancel(runs: string[]): Promise<string[]> {
      const { rows } = await db.query("select engine_cancel($1) as id", [runs]);
      return rows.map((row) => row.id);
    },
    async installedVersion(): Promise<string | null> {
      const { rows } = await db.query(
        "select obj_description(to_regprocedure('engine_send(jsonb)'), 'pg_proc') as version",
      );
      return rows[0]?.version ?? null;
    },
  };
}

/** Postgres refused a value as such (class 22), for example text with a NUL character in JSON. */
export function isUnstorable(error: unknown): error is Error {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("22")
  );
}

export type Store = ReturnType<typeof toStore>;
