import { addressState, oneOfOr } from "@/components/blocks/list/list-state";
import { callerName } from "@/components/callers/caller-name";
import { hrefOf } from "@/components/ui/paging";
import { USAGE_GROUPS } from "@/server/contract/enums";
import { ownKeys } from "@/server/contract/own-keys";
import type { UsageDays, UsageFigures } from "@/server/contract/usage";

const SPANS = ["7", "30", "90"] as const;
export const MEASURES = ["charged", "cost", "executions", "tokens"] as const;
export type Measure = (typeof MEASURES)[number];

/** The usage page's state as its URL has it. An unknown value counts as absent. */
export const { read: readUsageState } = addressState({
  days: oneOfOr("30", SPANS),
  by: oneOfOr("capability", USAGE_GROUPS),
  show: oneOfOr("charged", MEASURES),
});
export type UsageState = ReturnType<typeof readUsageState>;

/** The usage router's query for a state. */
export function toDaysQuery(projectId: string, { days }: Pick<UsageState, "days">) {
  return { project_id: projectId, days: Number(days) as 7 | 30 | 90 }; // one of SPANS
}

/** The URL of a state, without default values. */
export function usageHref(projectId: string, state: Partial<UsageState>): string {
  const usual: Partial<UsageState> = readUsageState({});
  const kept = Object.entries(state).filter(([name, value]) => value !== usual[name as keyof UsageState]);
  return hrefOf(`/projects/${projectId}/usage`, Object.fromEntries(kept));
}

/** The URL of the CSV export for these days. */
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
    for (const name of ownKeys(NONE)) sum[name] += figures[name];
  }
  return sum;
}

export function measureOf(figures: UsageFigures, measure: Measure): number {
  if (measure === "charged") return figures.chargedMicros;
  if (measure === "cost") return figures.providerCostMicros;
  return measure === "executions" ? figures.executions : figures.inputTokens + figures.outputTokens;
}

const LOCAL = "Local";

/**
 * The provider of a comparison's entries is hidden until it is judged, so those executions are grouped with local ones.
 */
function nameWithoutProvider({ executions, unfinished, unjudged }: UsageFigures): string {
  const hidden = unfinished + unjudged;
  if (hidden === 0) return LOCAL;
  return hidden < executions ? `${LOCAL} or hidden until judged` : "Hidden until judged";
}

/** The rows of one kind of money in groups, largest first, each with its figures by day. */
export function groupUsage(
  usage: UsageDays,
  { by, show }: Pick<UsageState, "by" | "show">,
  isTest: boolean,
): UsageGroupRow[] {
  const callers = new Map(usage.principals.map(({ principalId, name }) => [principalId, name]));
  const groupOf = (row: Row): [key: string, name: string] => {
    if (by === "capability") return [row.capabilityKey, row.capabilityKey];
    if (by === "provider") return [row.provider ?? "", row.provider ?? LOCAL];
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
      name: name === LOCAL ? nameWithoutProvider(addFigures(rows)) : name,
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
