import type { ReactNode } from "react";
import type { Failure } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";

/** Why something that was to run did not, and what to do about it; `children`: what else there is to say of it. */
export function Refused({
  failure,
  fieldsRefused,
  children,
}: {
  failure: Failure;
  /** Said where what is wrong stands at the fields. */
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
            Connect a provider account
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
