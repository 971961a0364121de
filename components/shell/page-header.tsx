import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "@/components/ui/class-names";
import Link from "@/components/ui/link";

/** A page's name, one sentence on its purpose, and its main actions. */
export function PageHeader({
  back,
  title,
  badge,
  children,
  id,
  actions,
  foot,
}: {
  /** The link from an item to its list. */
  back?: { href: string; label: string };
  title: ReactNode;
  /** An item's state. */
  badge?: ReactNode;
  children?: ReactNode;
  /** An item's id. */
  id?: ReactNode;
  actions?: ReactNode;
  /** An item's figures. */
  foot?: ReactNode;
}) {
  return (
    <header className={foot || badge ? "mb-6" : "mb-4"}>
      {back && (
        <Link
          href={back.href}
          className="-ml-1 inline-flex items-center gap-1 rounded px-1 text-sm text-muted hover:text-text"
        >
          <ArrowLeft aria-hidden className="size-3.5" />
          {back.label}
        </Link>
      )}
      <div className={cn("flex flex-wrap items-start gap-x-4 gap-y-3", back && "mt-2")}>
        <div className="min-w-0 flex-1 basis-56">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
            <h1 dir="auto" className="min-w-0 text-2xl font-semibold [overflow-wrap:anywhere]">
              {title}
            </h1>
            {badge && <span role="status">{badge}</span>}
          </div>
          {children && <div className="max-w-[68ch] text-sm text-muted">{children}</div>}
          {id && <div className="mt-1">{id}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {foot}
    </header>
  );
}
