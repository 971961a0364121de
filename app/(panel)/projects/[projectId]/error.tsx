"use client";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";

/** A room that could not be drawn; the frame around it stays usable. */
export default function RoomError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
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
  );
}
