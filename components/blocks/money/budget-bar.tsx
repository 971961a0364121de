import type { ReactNode } from "react";
import { dollars } from "./money";

/** Reserved funds are hatched, so that they differ without colour, too. */
const HATCHED =
  "bg-brass bg-[repeating-linear-gradient(135deg,transparent_0_4px,color-mix(in_oklch,var(--color-surface)_45%,transparent)_4px_6px)]";
const GHOST = "bg-primary/15 outline outline-1 -outline-offset-1 outline-dashed outline-primary";

type Props = {
  /** The budget, for screen readers. */
  name: string;
  ceilingMicros: number;
  spend: { settledMicros: number; heldMicros: number; availableMicros: number };
  /** The most that an unsent run costs, drawn as a ghost after the reserved funds. */
  estimateMicros?: number;
};

/** A budget as one bar with a mark at its limit, and its figures. */
export function BudgetBar({ name, ceilingMicros, spend, estimateMicros = 0 }: Props) {
  const { settledMicros, heldMicros, availableMicros } = spend;
  const all = settledMicros + heldMicros + estimateMicros;
  const whole = Math.max(ceilingMicros, all, 1);
  const width = (micros: number) => ({ width: `${(micros / whole) * 100}%` });
  const isOver = all > ceilingMicros;
  const spent = isOver && estimateMicros === 0 ? "bg-bad" : "bg-primary";
  return (
    <div className="space-y-2">
      <div className="relative py-1.5">
        <div
          role="img"
          aria-label={`${name}: ${dollars(settledMicros)} spent and ${dollars(heldMicros)} reserved of ${dollars(ceilingMicros)}${estimateMicros > 0 ? `; this run takes up to ${dollars(estimateMicros)}` : ""}`}
          className="meter flex h-3 overflow-hidden rounded-full bg-hover"
        >
          <span className={spent} style={width(settledMicros)} />
          <span className={HATCHED} style={width(heldMicros)} />
          {estimateMicros > 0 && <span className={GHOST} style={width(estimateMicros)} />}
        </div>
        <span
          aria-hidden
          className={`absolute inset-y-0 w-[3px] rounded-full ${isOver ? "bg-bad" : "bg-text/70"}`}
          style={{ left: `calc(${(ceilingMicros / whole) * 100}% - 3px)` }}
        />
      </div>
      <ul className="flex flex-wrap gap-x-5 gap-y-1 text-xs text-muted tabular-nums">
        <Legend swatch={spent}>{dollars(settledMicros)} spent</Legend>
        <Legend swatch={HATCHED}>{dollars(heldMicros)} reserved</Legend>
        {estimateMicros > 0 && <Legend swatch={GHOST}>up to {dollars(estimateMicros)} this run</Legend>}
        <li className={isOver ? "text-bad" : undefined}>
          {isOver ? `${dollars(all - ceilingMicros)} above the limit` : `${dollars(availableMicros)} left`}
        </li>
      </ul>
    </div>
  );
}

const Legend = ({ swatch, children }: { swatch: string; children: ReactNode }) => (
  <li className="flex items-center gap-1.5">
    <span aria-hidden className={`size-2 rounded-full ${swatch}`} />
    {children}
  </li>
);
