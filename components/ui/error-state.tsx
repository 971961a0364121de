import { CloudAlert } from "lucide-react";
import type { ReactNode } from "react";

/** Shown where content could not load: what happened, what to do, and the request id to report. */
export function ErrorState({
  title,
  children,
  requestId,
  action,
}: {
  title: string;
  children: ReactNode;
  requestId?: string;
  action?: ReactNode;
}) {
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-12 text-center">
      <span className="mb-4 grid size-10 place-items-center rounded-full border border-bad-line bg-bad-soft text-bad">
        <CloudAlert aria-hidden className="size-5" />
      </span>
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="mt-1 max-w-prose text-base text-muted">{children}</div>
      {requestId && (
        <p className="mt-2 text-xs text-muted">
          Request <code>{requestId}</code>
        </p>
      )}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
