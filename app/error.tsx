"use client";
import { PlainPage } from "@/components/shell/plain-page";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";

/** A page that could not be drawn. The digest is what the server's log has it under. */
export default function PageError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <PlainPage>
      <ErrorState
        title="This page could not be shown"
        requestId={error.digest}
        action={
          <Button variant="primary" onClick={reset}>
            Try again
          </Button>
        }
      >
        Nothing that is running is affected. Try again; if it stays, the server’s log knows why.
      </ErrorState>
    </PlainPage>
  );
}
