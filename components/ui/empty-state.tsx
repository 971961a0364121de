import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** Shown where a list or page has no content yet, with the first step. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      <span className="mb-4 grid size-10 place-items-center rounded-full border border-line bg-sunken text-muted">
        <Icon aria-hidden className="size-5" />
      </span>
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="mt-1 max-w-2xl text-base text-balance text-muted">{children}</div>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
