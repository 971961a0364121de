"use client";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/empty-state";

/** A page that could not be rendered. The frame around it stays usable. The server's log has the error under its digest. */
export default function RoomError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <ErrorState
      title="This page could not be loaded"
      requestId={error.digest}
      action={
        <Button variant="primary" onClick={reset}>
          Try again
        </Button>
      }
    >
      Running jobs are not affected. Try again. If it keeps failing, check the server’s log.
    </ErrorState>
  );
}
