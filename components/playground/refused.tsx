import type { ReactNode } from "react";
import type { Failure } from "@/components/data/trpc";
import { Notice } from "@/components/ui/notice";

/** The reason why a run was refused, and the next step; `children` adds details. */
export function Refused({
  failure,
  fieldsRefused,
  children,
}: {
  failure: Failure;
  /** The message when the errors are at the fields. */
  fieldsRefused: string;
  children?: ReactNode;
}) {
  const { connectUrl } = failure.details;
  return (
    <Notice tone="bad" role="alert" title={failure.code ? <code>{failure.code}</code> : "Not run"}>
      <p>{failure.issues.length > 0 ? fieldsRefused : failure.message}</p>
      {children}
      {typeof connectUrl === "string" && (
        <p className="mt-1.5">
          <a href={connectUrl} className="text-link underline">
            Connect account
          </a>
        </p>
      )}
      {failure.requestId && (
        <p className="mt-1.5 text-xs text-muted">
          Request <code>{failure.requestId}</code>
        </p>
      )}
    </Notice>
  );
}
