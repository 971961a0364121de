import type { ReactNode } from "react";
import { cn } from "./class-names";
import { CopyableId } from "./copyable-id";

/** Names and values, aligned: the plain way to show what is known about one thing. */
export function Facts({ className, children }: { className?: string; children: ReactNode }) {
  return <dl className={cn("grid gap-x-6 gap-y-2 text-sm", className)}>{children}</dl>;
}

/** One of them. A value that is not there (`false`, null or undefined) is not shown, nor is its name. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === false) return null;
  return (
    <div className="grid min-w-0 grid-cols-[7.5rem_minmax(0,1fr)] gap-3 sm:grid-cols-[9rem_minmax(0,1fr)]">
      <dt className="text-xs leading-5 text-muted">{name}</dt>
      <dd dir="auto" className="min-w-0 leading-5 [overflow-wrap:anywhere] tabular-nums">
        {children}
      </dd>
    </div>
  );
}

/** Some of them under a name of their own, in two columns where there is room. */
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

/** A hash or a key to be compared and copied; nothing where there is none. */
export function HashFact({ name, hash }: { name: string; hash: string | null }) {
  return <Fact name={name}>{hash && <CopyableId id={hash} what={name.toLowerCase()} />}</Fact>;
}
