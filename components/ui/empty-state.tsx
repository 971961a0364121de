import { CloudAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "./class-names";

type State = { title: string; children?: ReactNode; action?: ReactNode };

/** Shown where a list or page has no content yet, with the first step. */
export function EmptyState({
  icon: Icon,
  look = "border-line bg-sunken text-muted",
  title,
  children,
  action,
}: State & { icon: LucideIcon; look?: string }) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      <span className={cn("mb-4 grid size-10 place-items-center rounded-full border", look)}>
        <Icon aria-hidden className="size-5" />
      </span>
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="mt-1 max-w-2xl text-base text-balance text-muted">{children}</div>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Shown if content could not load: what happened, what to do, and the request id to report. */
export function ErrorState({ requestId, children, ...state }: State & { requestId?: string | undefined }) {
  return (
    <div role="alert">
      <EmptyState icon={CloudAlert} look="border-bad-line bg-bad-soft text-bad" {...state}>
        {children}
        {requestId && (
          <p className="mt-2 text-xs">
            Request <code>{requestId}</code>
          </p>
        )}
      </EmptyState>
    </div>
  );
}
