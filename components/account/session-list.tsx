"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Laptop, Terminal } from "lucide-react";
import { toast } from "sonner";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { Ago, Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
import type { Session } from "@/server/contract/sessions";
import { leave } from "./leave";

/** The reader's sessions. Each can be ended, or all at once. */
export function SessionList() {
  const trpc = useTRPC();
  const { data: sessions } = useSuspenseQuery(trpc.account.sessions.queryOptions());
  const endAll = useAction(trpc.account.signOutEverywhere.mutationOptions(), {
    onDone: () => leave("everywhere"),
  });
  return (
    <Card aria-labelledby="sessions">
      <CardHeader
        id="sessions"
        title="Sessions"
        hint="Browsers and devices signed in as you"
        actions={
          <ConfirmAction
            label="Sign out everywhere"
            title="Sign out everywhere?"
            description="This ends all your browser and device sessions, including this one. API keys keep working."
            action="Sign out everywhere"
            onConfirm={() => endAll.mutate()}
            size="sm"
            pending={endAll.isPending}
          />
        }
      />
      <ul className="divide-y divide-line">
        {sessions.map((session) => (
          <SessionRow key={session.sessionId} session={session} />
        ))}
      </ul>
    </Card>
  );
}

function SessionRow({ session }: { session: Session }) {
  const { sessionId, kind, label, address, createdAt, lastSeenAt, isCurrent } = session;
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const end = useAction(
    trpc.account.endSession.mutationOptions({
      // Also after a failure: the session may have ended elsewhere.
      onSettled: () =>
        isCurrent ? undefined : queryClient.invalidateQueries(trpc.account.sessions.queryFilter()),
    }),
    { onDone: () => (isCurrent ? leave("out") : toast.success(`${label} signed out`)) },
  );
  const Icon = kind === "device" ? Terminal : Laptop;
  return (
    <li className="flex items-start gap-3 px-4 py-3 text-sm">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
      <div className="min-w-0 flex-1 space-y-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
          <span className="min-w-0 [overflow-wrap:anywhere]">{label}</span>
          {isCurrent && <Badge tone="good">This session</Badge>}
        </p>
        <p id={`${sessionId}-facts`} className="flex flex-wrap gap-x-3 text-xs text-muted">
          <span>{kind === "device" ? "Device" : "Browser"}</span>
          <span className="[overflow-wrap:anywhere]">{address ?? "Unknown address"}</span>
          <span>
            Signed in <Moment at={createdAt} />
          </span>
          <span>
            Last seen <Ago at={lastSeenAt} />
          </span>
        </p>
      </div>
      <Button
        size="sm"
        aria-label={`Sign out ${label}`}
        aria-describedby={`${sessionId}-facts`}
        pending={end.isPending}
        onClick={() => end.mutate({ sessionId })}
      >
        Sign out
      </Button>
    </li>
  );
}
