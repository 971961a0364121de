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

/** The organization's requirements for its members' sessions. Only owners can change them. */
export function SecurityCard({ organizationId, isOwner }: { organizationId: string; isOwner: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const place = { organizationId };
  const { data: security } = useSuspenseQuery(trpc.organizations.security.queryOptions(place));
  const change = useMutation(
    trpc.organizations.setSecurity.mutationOptions({
      onSuccess: () => toast.success("Security settings saved"),
      onSettled: () => queryClient.invalidateQueries(trpc.organizations.security.queryFilter(place)),
      meta: { isShownInPlace: true },
    }),
  );
  const set = (wanted: ChangeSecurity) => change.mutate({ organizationId, ...wanted });
  const props = { security, isPending: change.isPending, set };
  return (
    <Card aria-labelledby="security-title">
      <CardHeader id="security-title" title="Security" hint="Applies to people's sessions, not to API keys" />
      <CardBody className="space-y-5 text-sm">
        {change.error && (
          <Notice tone="bad" role="alert">
            {toFailure(change.error).message}
          </Notice>
        )}
        <SecondFactorRule {...props} isOwner={isOwner} />
        {isOwner ? <SessionHours {...props} /> : <p>{sessionWords(security.sessionHours)}</p>}
        {!isOwner && <p className="text-muted">Only owners can change this.</p>}
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
          Second factor
          <Badge tone={requireSecondFactor ? "good" : undefined}>
            {requireSecondFactor ? "required" : "optional"}
          </Badge>
        </p>
        <p className="text-muted">
          {requireSecondFactor
            ? "Members without a second factor have no access until they set one up."
            : "Members may sign in without a second factor."}
          {membersWithout !== null &&
            ` ${membersWithout} of ${members === 1 ? "1 member" : `${members} members`} ${membersWithout === 1 ? "has" : "have"} none.`}
        </p>
        {isOwner && !hasSecondFactor && !requireSecondFactor && (
          <p>
            <Link href="/account" className="font-medium underline">
              Set up your own
            </Link>{" "}
            before you require it for others.
          </p>
        )}
      </div>
      {isOwner && requireSecondFactor && (
        <Button size="sm" pending={isPending} onClick={() => set({ requireSecondFactor: false })}>
          {" "}
          Make optional
        </Button>
      )}
      {isOwner && !requireSecondFactor && (
        <Confirm
          title="Require a second factor?"
          description={`Members without a second factor lose access until they set one up: ${membersWithout ?? 0} of ${members}. API keys and jobs are not affected.`}
          action="Require second factor"
          actionVariant="primary"
          onConfirm={() => set({ requireSecondFactor: true })}
        >
          <Button size="sm" variant="primary" pending={isPending} disabled={!hasSecondFactor}>
            {" "}
            Require second factor
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
          label="Session length (hours)"
          hint={`From 1 to ${LONGEST_HOURS}. Leave empty for 14 days in a browser and 30 on a device. Sessions older than this end immediately, possibly including yours.`}
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
