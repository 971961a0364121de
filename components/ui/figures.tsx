import type { ReactNode } from "react";
import { cn } from "./class-names";

/** The figures at the top of a page, side by side. */
export function Figures({ children }: { children: ReactNode }) {
  return (
    <dl className="mt-4 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line-soft shadow-card sm:grid-flow-col sm:auto-cols-fr sm:grid-cols-none">
      {children}
    </dl>
  );
}

type FigureProps = { name: string; isWide?: boolean; note?: ReactNode; children: ReactNode };

/** One figure with a note. On a phone two are side by side, except a wide one. */
export function Figure({ name, isWide, note, children }: FigureProps) {
  return (
    <div className={cn("bg-surface px-4 py-2.5 max-sm:odd:last:col-span-2", isWide && "max-sm:col-span-2")}>
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="mt-0.5 tabular-nums">
        <span className="block text-base font-medium">{children}</span>
        {note && <span className="block text-xs text-muted">{note}</span>}
      </dd>
    </div>
  );
}

/** Marks a figure that does not exist. */
export function None() {
  return <span className="text-muted">–</span>;
}
