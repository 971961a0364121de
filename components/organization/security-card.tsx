"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { FormEvent } from "react";
import { toast } from "sonner";
import { toFailure, useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ChangeSecurity, SecurityView } from "@/server/contract/security";

const LONGEST_HOURS = 720;

/** What the organization asks of its members' sessions. Owners change it. */
export function SecurityCard({ organizationId, isOwner }: { organizationId: string; isOwner: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const place = { organizationId };
  const { data: security } = useSuspenseQuery(trpc.organizations.security.queryOptions(place));
  const change = useMutation(
    trpc.organizations.setSecurity.mutationOptions({
      onSuccess: () => toast.success("The security settings are changed"),
      onSettled: () => queryClient.invalidateQueries(trpc.organizations.security.queryFilter(place)),
      meta: { isShownInPlace: true },
    }),
  );
  const set = (wanted: ChangeSecurity) => change.mutate({ organizationId, ...wanted });
  const props = { security, isPending: change.isPending, set };
  return (
    <Card aria-labelledby="security-title">
      <CardHeader
        id="security-title"
        title="Security"
        hint="Of people's sessions; API keys are not affected"
      />
      <CardBody className="space-y-5 text-sm">
        {change.error && (
          <Notice tone="bad" role="alert">
            {toFailure(change.error).message}
          </Notice>
        )}
        <SecondFactorRule {...props} isOwner={isOwner} />
        {isOwner ? <SessionHours {...props} /> : <p>{sessionWords(security.sessionHours)}</p>}
        {!isOwner && <p className="text-muted">An owner changes this.</p>}
      </CardBody>
    </Card>
  );
}

type Props = { security: SecurityView; isPending: boolean; set: (wanted: ChangeSecurity) => void };

function SecondFactorRule({ security, isPending, set, isOwner }: Props & { isOwner: boolean }) {
  const { requireSecondFactor, hasSecondFactor, members, membersWithout } = security;
  return (
    <div className="flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0 space-y-1">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          Second factor for everybody
          <Badge tone={requireSecondFactor ? "good" : undefined}>
            {requireSecondFactor ? "asked for" : "not asked for"}
          </Badge>
        </p>
        <p className="text-muted">
          {requireSecondFactor
            ? "Members without one have no rights here until they set it up."
            : "Members sign in as they like."}
          {membersWithout !== null &&
            ` ${membersWithout} of ${members === 1 ? "one member" : `${members} members`} ${membersWithout === 1 ? "has" : "have"} none.`}
        </p>
        {isOwner && !hasSecondFactor && !requireSecondFactor && (
          <p>
            <Link href="/account" className="font-medium underline">
              Set up one of your own
            </Link>{" "}
            before you ask others for it.
          </p>
        )}
      </div>
      {isOwner && requireSecondFactor && (
        <Button size="sm" pending={isPending} onClick={() => set({ requireSecondFactor: false })}>
          Ask no more
        </Button>
      )}
      {isOwner && !requireSecondFactor && (
        <Confirm
          title="Ask everybody for a second factor?"
          description={`From their next request on, members without one can do nothing here but set it up. ${membersWithout ?? 0} of ${members} have none. API keys and jobs go on.`}
          action="Ask for it"
          actionVariant="primary"
          keep="Not now"
          onConfirm={() => set({ requireSecondFactor: true })}
        >
          <Button size="sm" variant="primary" pending={isPending} disabled={!hasSecondFactor}>
            Ask for it
          </Button>
        </Confirm>
      )}
    </div>
  );
}

function SessionHours({ security, isPending, set }: Props) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get("hours")).trim();
    set({ sessionHours: typed === "" ? null : Number(typed) });
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      <div className="max-w-xs">
        <Field
          id="session-hours"
          label="Hours a session lasts"
          hint={`From 1 to ${LONGEST_HOURS}; empty: 14 days in a browser, 30 on a device. Older sessions end at once, perhaps yours too.`}
        >
          {(aria) => (
            <Input
              {...aria}
              key={security.sessionHours}
              name="hours"
              type="number"
              inputMode="numeric"
              min={1}
              max={LONGEST_HOURS}
              step={1}
              defaultValue={security.sessionHours ?? ""}
            />
          )}
        </Field>
      </div>
      <Button type="submit" size="sm" pending={isPending}>
        Save
      </Button>
    </form>
  );
}

function sessionWords(hours: number | null): string {
  if (hours === null) return "Sessions last 14 days in a browser and 30 on a device.";
  return `Sessions last ${hours === 1 ? "an hour" : `${hours} hours`}.`;
}
