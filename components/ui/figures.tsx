import type { ReactNode } from "react";

/** The figures at the top of a page, side by side. */
export function Figures({ children }: { children: ReactNode }) {
  return (
    <dl className="mt-4 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line shadow-card sm:grid-cols-3 lg:grid-cols-5">
      {children}
    </dl>
  );
}

/** One of five columns. */
export function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="bg-surface px-4 py-2.5 max-sm:last:col-span-2 sm:max-lg:last:col-span-2">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="mt-0.5 text-base font-medium tabular-nums">{children}</dd>
    </div>
  );
}

/** The figure does not exist. */
export function None() {
  return <span className="text-muted">–</span>;
}
