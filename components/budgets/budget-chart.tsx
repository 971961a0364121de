"use client";
import { useQuery } from "@tanstack/react-query";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/trpc";
import { Skeleton } from "@/components/ui/skeleton";
import type { BudgetCourse, BudgetView } from "@/server/contract/budgets";

const WIDTH = 480;
const HEIGHT = 96;
/** Space above the limit's line, so that it stays visible. */
const HEADROOM = 1.12;

/** Spend within the period: settled, with reserved funds stacked on top, and the limit as a line. */
export function BudgetChart({ budget, isTest, name }: { budget: BudgetView; isTest: boolean; name: string }) {
  const trpc = useTRPC();
  const { budgetId, updatedAt } = budget;
  const spend = isTest ? budget.testSpend : budget.spend;
  const { data, isError } = useQuery({
    ...trpc.budgets.course.queryOptions({ budgetId, isTest }),
    // Reload when the current amounts change.
    queryHash: JSON.stringify(["course", budgetId, isTest, updatedAt, spend.settledMicros, spend.heldMicros]),
  });
  if (isError)
    return (
      <p className="h-24 text-xs text-muted">The chart could not be loaded. Reload the page to try again.</p>
    );
  if (!data) return <Skeleton className="h-24 w-full" />;
  return <Course course={data} ceiling={budget.effectiveCeilingMicros} name={name} />;
}

function Course({ course, ceiling, name }: { course: BudgetCourse; ceiling: number; name: string }) {
  const { points } = course;
  const last = points.at(-1);
  const most = Math.max(
    ceiling,
    ...points.map(({ settledMicros, heldMicros }) => settledMicros + heldMicros),
    1,
  );
  const x = (place: number) => (points.length < 2 ? place * WIDTH : (place / (points.length - 1)) * WIDTH);
  const y = (micros: number) => HEIGHT - (micros / (most * HEADROOM)) * HEIGHT;
  /** The area under a line; a single point is a level. */
  const area = (levelOf: (point: BudgetCourse["points"][number]) => number) => {
    const drawn = points.length === 1 ? [...points, ...points] : points;
    const line = drawn.map((point, place) => `${x(place).toFixed(1)},${y(levelOf(point)).toFixed(1)}`);
    return `0,${HEIGHT} ${line.join(" ")} ${WIDTH},${HEIGHT}`;
  };
  const summary = last
    ? `${dollars(last.settledMicros)} spent and ${dollars(last.heldMicros)} reserved, limit ${dollars(ceiling)}`
    : `no spend yet, limit ${dollars(ceiling)}`;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Spend over time, ${name}: ${summary}`}
      className="h-24 w-full border-b border-line"
    >
      <polygon
        points={area(({ settledMicros, heldMicros }) => settledMicros + heldMicros)}
        className="fill-brass/60"
      />
      <polygon points={area(({ settledMicros }) => settledMicros)} className="fill-primary/80" />
      <line
        x1={0}
        x2={WIDTH}
        y1={y(ceiling)}
        y2={y(ceiling)}
        vectorEffect="non-scaling-stroke"
        strokeDasharray="4 4"
        strokeWidth={1.5}
        className="stroke-bad"
      />
    </svg>
  );
}
