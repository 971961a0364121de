"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Laptop, LogIn, Terminal } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Ago, Moment } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { toast } from "@/components/ui/toaster";
import type { LinkedIdentity, OwnAccount, Session } from "@/server/contract/sessions";
import { leave } from "./leave";
import { AccountName, PresenceField } from "./presence-field";
import { SecondFactorCard } from "./second-factor-card";

/** The reader's account: second factor, password, identity providers and sessions. */
export function AccountRoom() {
  const { data: account } = useSuspenseQuery(useTRPC().account.read.queryOptions());
  return (
    <>
      <PageHeader title="Account">
        <span className="[overflow-wrap:anywhere]">{account.email}</span>
      </PageHeader>
      <div className="max-w-3xl space-y-6">
        {account.askedBy.length > 0 && (
          <Notice tone="warn" role="status" title="Set up a second factor">
            {new Intl.ListFormat("en").format(account.askedBy)}{" "}
            {account.askedBy.length === 1 ? "requires" : "require"} a second factor. You have no access there
            until you set one up. API keys and jobs keep working.
          </Notice>
        )}
        <SecondFactorCard account={account} />
        <PasswordCard account={account} />
        <IdentityCard account={account} />
        <SessionList />
      </div>
    </>
  );
}

/** The identity providers linked to the reader's account; renders nothing when there are none. */
function IdentityCard({ account }: { account: OwnAccount }) {
  const { identities } = account;
  if (identities.length === 0) return null;
  return (
    <Section id="identities" title="Identity providers" hint="Each one signs you in to this account" isFlush>
      <ul aria-labelledby="identities" className="divide-y divide-line">
        {identities.map((identity) => (
          <li key={identity.issuer} className="flex flex-wrap items-start gap-3 px-4 py-3 text-sm">
            <LogIn aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
            <div className="min-w-0 flex-1 basis-40 space-y-1">
              <p className="font-medium [overflow-wrap:anywhere]">{identity.name}</p>
              <p className="text-xs text-muted">
                Connected <Moment at={identity.since} />
                {!identity.isSpare && ". This is your only way to sign in, so it cannot be disconnected."}
              </p>
            </div>
            {identity.isSpare && <Disconnect account={account} identity={identity} />}
          </li>
        ))}
      </ul>
      <p className="border-t border-line px-4 py-3 text-xs text-muted">
        If you don't recognize one, disconnect it and contact your operator.
      </p>
    </Section>
  );
}

function Disconnect({
  account,
  identity: { issuer, name },
}: {
  account: OwnAccount;
  identity: LinkedIdentity;
}) {
  const trpc = useTRPC();
  const unlink = useAction(trpc.account.unlinkIdentity.mutationOptions(), {
    isInPlace: true,
    done: `${name} disconnected. Your other sessions have ended.`,
    refresh: [trpc.account.pathKey()],
  });
  return (
    <FormDialog
      title={`Disconnect ${name}?`}
      description={`You can no longer sign in with ${name}, and your other sessions end. To connect it again, sign in with ${name} as ${account.email}.`}
      trigger={
        <Button size="sm" aria-label={`Disconnect ${name}`}>
          Disconnect
        </Button>
      }
      action={unlink}
      send={(sent) =>
        unlink.mutate({ issuer, ...(sent.has("password") && { password: sent.raw("password") }) })
      }
      submit="Disconnect"
      tone="danger"
    >
      <PresenceField account={account} />
    </FormDialog>
  );
}

/** Changes the password; an account without one sees a note instead. */
function PasswordCard({ account }: { account: OwnAccount }) {
  return (
    <Section id="password" title="Password">
      {account.hasPassword ? (
        <PasswordForm email={account.email} />
      ) : (
        <p className="text-sm text-muted">
          You sign in with an identity provider, so there is no password to change.
        </p>
      )}
    </Section>
  );
}

function PasswordForm({ email }: { email: string }) {
  const trpc = useTRPC();
  const change = useAction(trpc.account.changePassword.mutationOptions(), {
    done: "Password changed. Your other sessions have ended.",
    refresh: [trpc.account.sessions.queryKey()],
    isInPlace: true,
  });
  return (
    <Form
      key={change.isSuccess ? change.submittedAt : undefined} // emptied once it is done
      action={change}
      send={(sent) => change.mutate({ present: sent.raw("present"), next: sent.raw("next") })}
      className="max-w-sm space-y-4"
    >
      <AccountName email={email} />
      <TextField
        name="present"
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        maxLength={1000}
      />
      <TextField
        name="next"
        label="New password"
        hint="At least 12 characters."
        type="password"
        autoComplete="new-password"
        required
        maxLength={1000}
      />
      <div className="space-y-2">
        <Button type="submit" variant="primary" pending={change.isPending}>
          Change password
        </Button>
        <p className="text-xs text-muted">This ends your other sessions.</p>
      </div>
    </Form>
  );
}

/** The reader's sessions. Each can be ended, or all at once. */
function SessionList() {
  const trpc = useTRPC();
  const { data: sessions } = useSuspenseQuery(trpc.account.sessions.queryOptions());
  const endAll = useAction(trpc.account.signOutEverywhere.mutationOptions(), {
    onDone: () => leave("everywhere"),
  });
  return (
    <Section
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
      isFlush
    >
      <ul className="divide-y divide-line">
        {sessions.map((session) => (
          <SessionRow key={session.sessionId} session={session} />
        ))}
      </ul>
    </Section>
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
