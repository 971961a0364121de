import { ArrowLeft, ArrowRight } from "lucide-react";
import Link from "next/link";
import { Button } from "./button";
import { cn } from "./class-names";
import { newerPage, olderPage, type Place } from "./paging";

/** The ways to the pages beside this one of a list that is read by cursor; nothing where it is the only page. */
export function Pagination<State extends Place>({
  label,
  state,
  nextCursor,
  hrefOf,
  back = "Newer",
  on = "Older",
  className,
}: {
  label: string;
  state: State;
  /** Of the page that follows; none: this is the last. */
  nextCursor: string | null | undefined;
  hrefOf(state: State): string;
  /** What the two directions are called. */
  back?: string;
  on?: string;
  className?: string;
}) {
  const before = newerPage(state);
  if (!before && !nextCursor) return null;
  return (
    <nav aria-label={label} className={cn("flex items-center justify-end gap-2", className)}>
      <Step href={before && hrefOf(before)} rel="prev">
        <ArrowLeft aria-hidden />
        {back}
      </Step>
      <Step href={nextCursor && hrefOf(olderPage(state, nextCursor))} rel="next">
        {on}
        <ArrowRight aria-hidden />
      </Step>
    </nav>
  );
}

function Step({
  href,
  rel,
  children,
}: {
  href: string | null | undefined;
  rel: string;
  children: React.ReactNode;
}) {
  if (!href) return <Button disabled>{children}</Button>;
  return (
    <Button asChild>
      <Link href={href} rel={rel}>
        {children}
      </Link>
    </Button>
  );
}

/** Stands in a list whose page is empty, though it is not the first: what it had is gone meanwhile. */
export function EndOfList({ children = "Nothing older than this." }: { children?: string }) {
  return <p className="px-4 py-10 text-center text-sm text-muted">{children}</p>;
}
