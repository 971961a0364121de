import { ArrowLeft, ArrowRight } from "lucide-react";
import Link from "next/link";
import { Button } from "./button";

/** Newer and older pages of a list that is read by cursor. A missing address is the end in that direction. */
export function Pagination({
  label,
  newer,
  older,
  back = "Newer",
  on = "Older",
}: {
  label: string;
  /** What the two directions are called. */
  back?: string;
  on?: string;
  newer: string | null;
  older: string | null;
}) {
  return (
    <nav aria-label={label} className="flex items-center justify-end gap-2">
      <Step href={newer} rel="prev">
        <ArrowLeft aria-hidden />
        {back}
      </Step>
      <Step href={older} rel="next">
        {on}
        <ArrowRight aria-hidden />
      </Step>
    </nav>
  );
}

function Step({ href, rel, children }: { href: string | null; rel: string; children: React.ReactNode }) {
  if (!href) return <Button disabled>{children}</Button>;
  return (
    <Button asChild>
      <Link href={href} rel={rel}>
        {children}
      </Link>
    </Button>
  );
}
