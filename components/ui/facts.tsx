import type { ReactNode } from "react";
import { cn } from "./class-names";
import { CopyableId } from "./copyable-id";
import { spaced } from "./wording";

/** Aligned names and values: the standard way to show the facts of one item. */
export function Facts({ className, children }: { className?: string; children: ReactNode }) {
  return <dl className={cn("grid gap-x-6 gap-y-2 text-sm", className)}>{children}</dl>;
}

/** One fact. Without a value (`false`, null or undefined) neither the value nor the name is shown. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === false) return null;
  return (
    <div className="grid min-w-0 grid-cols-[7.5rem_minmax(0,1fr)] gap-3">
      <dt className="text-xs leading-5 text-faint">{name}</dt>
      <dd dir="auto" className="min-w-0 leading-5 [overflow-wrap:anywhere] tabular-nums">
        {children}
      </dd>
    </div>
  );
}

/** Usage figures by name. */
export function UsageFacts({ usage }: { usage: Record<string, unknown> | null | undefined }) {
  return Object.entries(usage ?? {}).map(([name, value]) => (
    <Fact key={name} name={spaced(name)}>
      {typeof value === "number" ? value.toLocaleString("en-US") : value !== null && JSON.stringify(value)}
    </Fact>
  ));
}

/** A titled group of facts, in two columns if there is room. */
export function FactGroup({
  title,
  wide = false,
  children,
}: {
  title: string;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <section>
      <h3 className="mb-2 text-xs font-semibold">{title}</h3>
      <Facts className={wide ? undefined : "sm:grid-cols-2"}>{children}</Facts>
    </section>
  );
}

/** A hash or key, shortened, to compare and copy; nothing when absent. */
export function HashFact({ name, hash }: { name: string; hash: string | null }) {
  return <Fact name={name}>{hash && <CopyableId id={hash} what={name.toLowerCase()} short />}</Fact>;
}
