"use client";
import { usePathname } from "next/navigation";
import Link from "@/components/ui/link";

const ROOMS = [
  { href: "/operator/requests", label: "Requests" },
  { href: "/attention", label: "Needs attention" },
  { href: "/operator/plans", label: "Plans" },
  { href: "/operator/outbox", label: "Outbox" },
];

/** Links to the operator pages; on a phone in a row of their own. */
export function OperatorNav() {
  const pathname = usePathname();
  return (
    <nav aria-label="Operator" className="order-last flex w-full gap-4 sm:order-none sm:w-auto">
      {ROOMS.map(({ href, label }) => (
        <Link
          key={href}
          href={href}
          aria-current={pathname === href ? "page" : pathname.startsWith(`${href}/`) ? "true" : undefined}
          className="-mb-px rounded-t border-b-2 border-transparent py-2 text-sm font-medium text-muted hover:text-text aria-[current]:border-link aria-[current]:text-text sm:py-4"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
