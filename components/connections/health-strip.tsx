"use client";
import { Ago } from "@/components/time/moment";
import type { ConnectionHealth } from "@/server/contract/connections";

const HOUR_MS = 3_600_000;
/** A cell is six hours, so that seven days fit a phone. */
const CELL_HOURS = 6;
const CELLS = (7 * 24) / CELL_HOURS;

type Cell = {
  from: number;
  answered: number;
  failed: number;
  /** Checks by outcome. */
  accepted: number;
  refused: number;
  problem: string | null;
};

/** The executions and checks of a connection over seven days, one cell per six hours, newest on the right. */
export function HealthStrip({ health, name }: { health: ConnectionHealth; name: string }) {
  const cells = cellsOf(health, Date.now());
  const answered = cells.reduce((sum, each) => sum + each.answered, 0);
  const failed = cells.reduce((sum, each) => sum + each.failed, 0);
  const [last] = health.checks;
  const problem = health.hours.find((hour) => hour.problem !== null);
  return (
    <div className="space-y-1.5">
      <div
        role="img"
        aria-label={`Last 7 days of ${name}: ${answered} answered, ${failed} failed`}
        className="flex h-6 items-stretch gap-px sm:gap-0.5"
      >
        {cells.map((cell) => (
          <span
            key={cell.from}
            title={titleOf(cell)}
            suppressHydrationWarning
            className={`min-w-0 flex-1 rounded-xs border ${toneOf(cell)}`}
          />
        ))}
      </div>
      <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-muted">
        <span>Last 7 days</span>
        <span>
          {answered} answered, {failed} failed
        </span>
        {last && (
          <span>
            {last.outcome === "ready" ? "Accepted" : last.outcome === "refused" ? "Refused" : "Unreachable"}{" "}
            <Ago at={last.at} />
          </span>
        )}
        {problem?.problemAt && (
          <span className="[overflow-wrap:anywhere]">
            Last problem <Ago at={problem.problemAt} />: {problem.problem}
          </span>
        )}
      </p>
    </div>
  );
}

function cellsOf({ hours, checks }: ConnectionHealth, now: number): Cell[] {
  const width = CELL_HOURS * HOUR_MS;
  const end = Math.floor(now / width) * width;
  return Array.from({ length: CELLS }, (_, position) => {
    const from = end - (CELLS - 1 - position) * width;
    const isIn = (at: string) => new Date(at).getTime() >= from && new Date(at).getTime() < from + width;
    const asked = checks.filter(({ at }) => isIn(at));
    const mine = hours.filter(({ hour }) => isIn(hour));
    return {
      from,
      answered: mine.reduce((sum, each) => sum + each.answered, 0),
      failed: mine.reduce((sum, each) => sum + each.failed, 0),
      accepted: asked.filter(({ outcome }) => outcome === "ready").length,
      refused: asked.filter(({ outcome }) => outcome !== "ready").length,
      problem: mine.find((each) => each.problem)?.problem ?? null,
    };
  });
}

function toneOf({ answered, failed, accepted, refused }: Cell): string {
  if (failed > answered || (refused > 0 && answered + accepted === 0)) return "border-bad-line bg-bad";
  if (failed + refused > 0) return "border-warn-line bg-warn";
  return answered + accepted > 0 ? "border-good-line bg-good" : "border-line bg-sunken";
}

function titleOf({ from, answered, failed, accepted, refused, problem }: Cell): string {
  const at = new Date(from).toISOString().slice(0, 16).replace("T", " ");
  const what = answered + failed === 0 ? "no executions" : `${answered} answered, ${failed} failed`;
  const checks = accepted + refused;
  const checked = checks === 0 ? "" : `, ${accepted} of ${checks} checks accepted`;
  return `${at} UTC: ${what}${checked}${problem ? `. ${problem}` : ""}`;
}
