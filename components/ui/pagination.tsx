import { ArrowLeft, ArrowRight } from "lucide-react";
import Link from "@/components/ui/link";
import { Button } from "./button";
import { cn } from "./class-names";
import { newerPage, olderPage, type PagePosition } from "./paging";

/** Links to the previous and next page of a cursor-paginated list; nothing when there is only one page. */
export function Pagination<State extends PagePosition>({
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
  /** The cursor of the next page; absent on the last page. */
  nextCursor: string | null | undefined;
  hrefOf(state: State): string;
  /** The labels of the links to newer and older items. */
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

/** A line in place of a list's rows; by default for a later page whose items are gone. */
export function EndOfList({ children = "No older items." }: { children?: string }) {
  return <p className="px-4 py-10 text-center text-sm text-muted">{children}</p>;
}
