import type { ReactNode } from "react";
import { Notice } from "@/components/ui/notice";

/**
 * The reason why something ended without a result, and what to do next, in the API's words and with the code to search for.
 */
export function Failure({
  error: { code, message, resolution },
  isIntended = false,
  children,
}: {
  error: { code: string; message: string; resolution?: string | null };
  /** True if a person ended it on purpose, such as by canceling the job; the notice is then no alert. */
  isIntended?: boolean;
  /** Extra details. */
  children?: ReactNode;
}) {
  return (
    <Notice tone={isIntended ? "busy" : "bad"} title={message} role={isIntended ? undefined : "alert"}>
      {resolution && <p>{resolution}</p>}
      {children}
      <p className="mt-1.5 text-xs text-muted">
        <code>{code}</code>
      </p>
    </Notice>
  );
}
