import type { StoredEvent } from "./enqueue";
import { compile, type Expression, type PlainMatch, toPlainMatch } from "./expressions";
import { type AnyFunction, configsOf, type FunctionConfig } from "./sdk";
import { type Due, toDue } from "./time";

/** A function (or its failure handler) as the engine uses it. */
export type Entry = {
  id: string;
  fn: AnyFunction;
  handler: "main" | "failure";
  maxAttempts: number;
  triggers: { event: string; matches: (event: StoredEvent) => boolean }[];
  crons: string[];
  limits: { name: string; key: Expression; cap: number }[];
  idempotency?: Expression;
  cancels: Cancel[];
};

export type Cancel = { event: string; condition: Expression; plain?: PlainMatch; within?: Due };

export type Catalog = {
  byId: Map<string, Entry>;
  triggeredBy: (event: StoredEvent) => Entry[];
  cancelledBy: (event: StoredEvent) => { entry: Entry; cancel: Cancel }[];
};

const DEFAULT_RETRIES = 3;
/** Options that need a real Inngest server. Refused, never ignored. */
const UNSUPPORTED = [
  "batchEvents",
  "rateLimit",
  "throttle",
  "debounce",
  "priority",
  "timeouts",
  "singleton",
] as const;

/** Reads the functions' own registration; throws on an option or expression that this engine does not serve. */
export function toCatalog(functions: readonly AnyFunction[]): Catalog {
  const entries = functions.flatMap((fn) =>
    configsOf(fn).map((config, index) => toEntry(fn, config, index === 0 ? "main" : "failure")),
  );
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  if (byId.size < entries.length) throw new Error("Two functions have the same id");
  return {
    byId,
    triggeredBy: (event) =>
      entries.filter((entry) =>
        entry.triggers.some((trigger) => isNamed(event.name, trigger.event) && trigger.matches(event)),
      ),
    cancelledBy: (event) =>
      entries.flatMap((entry) =>
        entry.cancels.filter((cancel) => cancel.event === event.name).map((cancel) => ({ entry, cancel })),
      ),
  };
}

/** Should this event end a run that `started` caused at that time? */
export function isCancelled(
  cancel: Cancel,
  event: StoredEvent,
  started: StoredEvent,
  startedAt: Date,
): boolean {
  if (cancel.within) {
    const until =
      "at" in cancel.within ? Date.parse(cancel.within.at) : startedAt.getTime() + cancel.within.ms;
    if (event.ts > until) return false;
  }
  return cancel.condition({ event: started, async: event }) === true;
}

/** The columns that put a run of this function under its limits. */
export function limitsOf(entry: Entry, event: StoredEvent) {
  const [first, second] = entry.limits.map((limit) => ({
    key: `${limit.name}:${JSON.stringify(limit.key({ event }))}`,
    cap: limit.cap,
  }));
  return {
    ...(first && { limit_key: first.key, limit_cap: first.cap }),
    ...(second && { limit_key2: second.key, limit_cap2: second.cap }),
  };
}

function toEntry(fn: AnyFunction, config: FunctionConfig, handler: "main" | "failure"): Entry {
  const refuse = (what: string): never => {
    throw new Error(`Function "${fn.id()}" uses ${what}, which the embedded engine does not support`);
  };
  for (const option of UNSUPPORTED) if (config[option]) refuse(option);
  if ("~inngest" in fn) refuse("defer");
  const concurrency =
    typeof config.concurrency === "number" ? [{ limit: config.concurrency }] : config.concurrency;
  return {
    id: config.id,
    fn,
    handler,
    maxAttempts: (config.steps.step?.retries?.attempts ?? DEFAULT_RETRIES) + 1,
    triggers: config.triggers.flatMap((trigger) => ("event" in trigger ? [toTrigger(trigger)] : [])),
    crons: config.triggers.flatMap((trigger) => {
      if (!("cron" in trigger)) return [];
      if (trigger.jitter) refuse("a cron trigger with jitter");
      const cron = trigger.cron.replace(/^TZ=(UTC|Etc\/UTC)\s+/, "");
      if (cron.startsWith("TZ=")) refuse("a cron trigger in a time zone other than UTC");
      return [cron];
    }),
    limits: [concurrency ?? []].flat().flatMap((option, index) => {
      if ("scope" in option && option.scope && option.scope !== "fn")
        refuse(`concurrency of scope "${option.scope}"`);
      if (!option.limit) return []; // zero or absent: no limit
      const key: Expression = "key" in option && option.key ? compile(option.key) : () => null;
      return [{ name: `${config.id}:${index}`, key, cap: option.limit }];
    }),
    ...(config.idempotency && { idempotency: compile(config.idempotency) }),
    cancels: (config.cancel ?? []).map((cancel) => {
      const plain = cancel.if ? toPlainMatch(cancel.if) : undefined;
      return {
        event: cancel.event,
        condition: cancel.if ? compile(cancel.if) : () => true,
        ...(plain && { plain }),
        ...(cancel.timeout && { within: toDue(cancel.timeout) }),
      };
    }),
  };
}

function toTrigger({ event, expression }: { event: string; expression?: string | undefined }) {
  if (!expression) return { event, matches: () => true };
  const condition = compile(expression);
  return { event, matches: (received: StoredEvent) => condition({ event: received }) === true };
}

/** Triggers may end in a wildcard, as in `app/user.*`. */
function isNamed(name: string, trigger: string): boolean {
  return trigger.endsWith("*") ? name.startsWith(trigger.slice(0, -1)) : name === trigger;
}
