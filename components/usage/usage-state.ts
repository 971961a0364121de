import { z } from "zod";
import { callerName } from "@/components/callers/caller-name";
import type { UsageDays, UsageFigures } from "@/server/contract/usage";
import { UsageGroup } from "@/server/contract/usage";

const SPANS = ["7", "30", "90"] as const;
export const MEASURES = ["charged", "executions", "tokens"] as const;
export type Measure = (typeof MEASURES)[number];

/** What the usage page shows, as its address carries it. A word we do not know counts as absent. */
const UsageState = z.object({
  days: z.enum(SPANS).default("30").catch("30"),
  by: UsageGroup.default("capability").catch("capability"),
  show: z.enum(MEASURES).default("charged").catch("charged"),
  /** Absent: usage of live money where there is any, else of test money. */
  money: z.enum(["live", "test"]).optional().catch(undefined),
});
export type UsageState = z.output<typeof UsageState>;

/** Reads the state from search parameters; of a repeated one the first counts. */
export function readUsageState(params: Record<string, string | string[] | undefined>): UsageState {
  const single = Object.entries(params).map(([name, value]) => [
    name,
    Array.isArray(value) ? value[0] : value,
  ]);
  return UsageState.parse(Object.fromEntries(single));
}

/** The query of a state, as the usage router takes it. */
export function toDaysQuery(projectId: string, { days }: Pick<UsageState, "days">) {
  return { project_id: projectId, days: Number(days) as 7 | 30 | 90 }; // one of SPANS
}

/** The address of a state; what is usual is left out. */
export function usageHref(projectId: string, state: Partial<UsageState>): string {
  const usual: Record<string, unknown> = readUsageState({});
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value && value !== usual[name]) params.set(name, value);
  }
  const query = params.toString();
  return `/projects/${projectId}/usage${query && `?${query}`}`;
}

/** Where the table of these days is had as a file. */
export function exportHref(projectId: string, { from, to }: Pick<UsageDays, "from" | "to">): string {
  const until = new Date(Date.parse(to) + 86_400_000).toISOString().slice(0, 10);
  return `/v1/billing/usage-export?${new URLSearchParams({ from, to: until, projectId })}`;
}

type Row = UsageDays["rows"][number];

export type UsageGroupRow = {
  key: string;
  name: string;
  figures: UsageFigures;
  byDay: Map<string, UsageFigures>;
};

const NONE: UsageFigures = {
  executions: 0,
  succeeded: 0,
  failed: 0,
  canceled: 0,
  unfinished: 0,
  unjudged: 0,
  providerCostMicros: 0,
  unknownCosts: 0,
  chargedMicros: 0,
  feeMicros: 0,
  inputTokens: 0,
  outputTokens: 0,
  images: 0,
};

export function addFigures(all: Iterable<UsageFigures>): UsageFigures {
  const sum = { ...NONE };
  for (const figures of all) {
    for (const name of Object.keys(NONE) as (keyof UsageFigures)[]) sum[name] += figures[name]; // the keys of NONE
  }
  return sum;
}

export function measureOf(figures: UsageFigures, measure: Measure): number {
  if (measure === "charged") return figures.chargedMicros;
  return measure === "executions" ? figures.executions : figures.inputTokens + figures.outputTokens;
}

const RUNS_HERE = "Runs here";

/** Who does what is part of a comparison is not told before it is judged, so it stands beside what no provider does. */
function nameWithoutProvider({ executions, unfinished, unjudged }: UsageFigures): string {
  const untold = unfinished + unjudged;
  if (untold === 0) return RUNS_HERE;
  return untold < executions ? `${RUNS_HERE}, or not told yet` : "Not told yet";
}

/** The rows of one kind of money in groups, the largest first, each with its figures day by day. */
export function groupUsage(
  usage: UsageDays,
  { by, show }: Pick<UsageState, "by" | "show">,
  isTest: boolean,
): UsageGroupRow[] {
  const callers = new Map(usage.principals.map(({ principalId, name }) => [principalId, name]));
  const groupOf = (row: Row): [key: string, name: string] => {
    if (by === "capability") return [row.capabilityKey, row.capabilityKey];
    if (by === "provider") return [row.provider ?? "", row.provider ?? RUNS_HERE];
    return [row.principalId, callerName({ id: row.principalId, name: callers.get(row.principalId) ?? null })];
  };
  const groups = new Map<string, { name: string; rows: Row[] }>();
  for (const row of usage.rows) {
    if (row.test !== isTest) continue;
    const [key, name] = groupOf(row);
    const group = groups.get(key) ?? { name, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups]
    .map(([key, { name, rows }]) => ({
      key,
      name: name === RUNS_HERE ? nameWithoutProvider(addFigures(rows)) : name,
      figures: addFigures(rows),
      byDay: new Map(
        [...new Set(rows.map(({ day }) => day))].map((day) => [
          day,
          addFigures(rows.filter((row) => row.day === day)),
        ]),
      ),
    }))
    .sort(
      (a, b) =>
        measureOf(b.figures, show) - measureOf(a.figures, show) ||
        b.figures.executions - a.figures.executions ||
        a.name.localeCompare(b.name),
    );
}
