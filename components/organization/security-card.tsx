"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { TextField } from "@/components/blocks/form/fields";
import { Form, type FormAction } from "@/components/blocks/form/form";
import { useTRPC } from "@/components/data/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import Link from "@/components/ui/link";
import type { ChangeSecurity, SecurityView } from "@/server/contract/security";

const LONGEST_HOURS = 720;

/** The organization's requirements for its members' sessions. Only owners can change them. */
export function SecurityCard({ organizationId, isOwner }: { organizationId: string; isOwner: boolean }) {
  const trpc = useTRPC();
  const place = { organizationId };
  const { data: security } = useSuspenseQuery(trpc.organizations.security.queryOptions(place));
  const change = useAction(trpc.organizations.setSecurity.mutationOptions(), {
    done: "Security settings saved",
    refresh: [trpc.organizations.security.queryKey(place)],
    isInPlace: true,
  });
  const set = (wanted: ChangeSecurity) => change.mutate({ organizationId, ...wanted });
  const props = { security, change, set };
  return (
    <Section
      title="Security"
      hint="Applies to people's sessions, not to API keys"
      bodyClassName="space-y-5 text-sm"
    >
      <SecondFactorRule {...props} isOwner={isOwner} />
      {isOwner ? <SessionHours {...props} /> : <p>{sessionWords(security.sessionHours)}</p>}
      {!isOwner && <p className="text-muted">Only owners can change this.</p>}
    </Section>
  );
}

type Props = { security: SecurityView; change: FormAction; set: (wanted: ChangeSecurity) => void };

function SecondFactorRule({ security, change, set, isOwner }: Props & { isOwner: boolean }) {
  const { requireSecondFactor, hasSecondFactor, members, membersWithout } = security;
  return (
    <div className="flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0 space-y-1">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          Second factor
          <Badge tone={requireSecondFactor ? "good" : undefined}>
            {requireSecondFactor ? "Required" : "Optional"}
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
      {isOwner && (
        <ConfirmAction
          label={requireSecondFactor ? "Make optional" : "Require second factor"}
          isAsked={!requireSecondFactor}
          title="Require a second factor?"
          description={`Members without a second factor lose access until they set one up: ${membersWithout ?? 0} of ${members}. API keys and jobs are not affected.`}
          action="Require second factor"
          isHarmless
          onConfirm={() => set({ requireSecondFactor: !requireSecondFactor })}
          size="sm"
          variant={requireSecondFactor ? "secondary" : "primary"}
          pending={change.isPending}
          disabled={!requireSecondFactor && !hasSecondFactor}
        />
      )}
    </div>
  );
}

function SessionHours({ security, change, set }: Props) {
  return (
    <Form
      action={change}
      send={(sent) =>
        set({ sessionHours: sent.given("sessionHours") ? Number(sent.text("sessionHours")) : null })
      }
      className="space-y-3"
    >
      <div className="max-w-xs">
        <TextField
          key={security.sessionHours}
          name="sessionHours"
          label="Session length (hours)"
          hint={`From 1 to ${LONGEST_HOURS}. Leave empty for 14 days in a browser and 30 on a device. Sessions older than this end immediately, possibly including yours.`}
          type="number"
          inputMode="numeric"
          min={1}
          max={LONGEST_HOURS}
          step={1}
          defaultValue={security.sessionHours ?? ""}
        />
      </div>
      <Button type="submit" size="sm" pending={change.isPending}>
        Save
      </Button>
    </Form>
  );
}

function sessionWords(hours: number | null): string {
  if (hours === null) return "Sessions last 14 days in a browser and 30 on a device.";
  return `Sessions last ${hours === 1 ? "an hour" : `${hours} hours`}.`;
}
