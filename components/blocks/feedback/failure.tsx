import type { ReactNode } from "react";
import { Notice } from "@/components/ui/notice";

/** Why something ended without a result and what to do next, in the API's words, with the code to search for. */
export function Failure({
  error: { code, message, resolution },
  isIntended = false,
  children,
}: {
  error: { code: string; message: string; resolution?: string | null };
  /** A person wanted it to end, so it is no alert. */
  isIntended?: boolean;
  /** More that is known of it. */
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
