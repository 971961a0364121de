import { ArrowLeft } from "lucide-react";
import Link from "next/link";

/** A link from an item back to its list. */
export function BackLink({ href, children }: { href: string; children: string }) {
  return (
    <Link
      href={href}
      className="-ml-1 inline-flex items-center gap-1 rounded px-1 text-sm text-muted hover:text-text"
    >
      <ArrowLeft aria-hidden className="size-3.5" />
      {children}
    </Link>
  );
}
