"use client";
import { useEffect, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { Form } from "@/components/blocks/form/form";
import { TextField } from "@/components/blocks/form/text-field";
import { sentencesOf, useTRPC } from "@/components/data/trpc";
import { PlainTitle } from "@/components/shell/plain-page";
import { signIn } from "@/components/sign-in/sign-in";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import type { OfferedPlace } from "@/server/contract/members";

const KEPT = "capstan.invitation";

/**
 * The link's token. It is stored for this tab only, while its holder signs in, and is removed from the URL immediately.
 */
function takeToken(): string {
  const given = window.location.hash.slice(1);
  if (given) {
    sessionStorage.setItem(KEPT, given);
    window.history.replaceState(null, "", window.location.pathname);
  }
  return given || (sessionStorage.getItem(KEPT) ?? "");
}

/** An invitation and the ways to accept it: signed in with its address, or with a new account. */
export function InvitationPage({ signedInAs }: { signedInAs: string | null }) {
  const trpc = useTRPC();
  const [token, setToken] = useState<string | null>(null);
  const look = useAction(trpc.organizations.lookAtInvitation.mutationOptions(), { isInPlace: true });
  const { mutate } = look;
  useEffect(() => {
    const found = takeToken();
    setToken(found);
    if (found) mutate({ token: found });
  }, [mutate]);

  if (token === "") return <Refused>Open the link from your invitation email.</Refused>;
  if (look.error) return <Refused>{sentencesOf(look.error)}</Refused>;
  if (!look.data || token === null)
    return (
      <>
        <PlainTitle title="Invitation" />
        <Card className="space-y-3 p-5" aria-busy>
          <Skeleton className="h-4 w-3/4" />
          <Skeleton className="h-4 w-1/2" />
        </Card>
      </>
    );
  return <Offer token={token} offered={look.data} signedInAs={signedInAs} />;
}

function Refused({ children }: { children: string }) {
  return (
    <>
      <PlainTitle title="Invitation not valid" />
      <Card className="space-y-4 p-5">
        <Notice tone="bad" role="alert">
          {children}
        </Notice>
        <p className="text-sm text-muted">Ask the person who invited you to send a new one.</p>
      </Card>
    </>
  );
}

function Offer({
  token,
  offered,
  signedInAs,
}: {
  token: string;
  offered: OfferedPlace;
  signedInAs: string | null;
}) {
  const trpc = useTRPC();
  const [password, setPassword] = useState("");
  const accept = useAction(trpc.organizations.acceptInvitation.mutationOptions(), {
    isInPlace: true,
    async onDone({ email, isNew }) {
      sessionStorage.removeItem(KEPT);
      if (isNew) await signIn("credentials", { email, password, redirect: false }).catch(() => null);
      window.location.assign("/"); // a full page load, so that nothing of an earlier reader stays in memory
    },
  });
  const isRight = signedInAs === offered.email;
  const mustSignIn = !isRight && (offered.isKnown || signedInAs !== null);
  const signInHref = `/sign-in?${new URLSearchParams({
    callbackUrl: "/invitation",
    ...(signedInAs ? { reason: "switch" } : {}),
  })}`;
  return (
    <>
      <PlainTitle title={`Join ${offered.organizationName}`}>
        {offered.invitedBy} invited {offered.email} as {offered.role}.
      </PlainTitle>
      <Card className="p-5">
        {mustSignIn ? (
          <div className="space-y-4">
            <p className="text-sm">
              {signedInAs
                ? `You are signed in as ${signedInAs}. The invitation is for ${offered.email}.`
                : `${offered.email} already has an account. Sign in to accept.`}
            </p>
            <Button asChild variant="primary" size="lg" className="w-full">
              <a href={signInHref}>Sign in as {offered.email}</a>
            </Button>
          </div>
        ) : (
          <Form
            action={accept}
            send={(sent) => {
              const displayName = sent.given("displayName");
              accept.mutate({ token, ...(!isRight && { password, ...(displayName && { displayName }) }) });
            }}
          >
            {!isRight && (
              <>
                <TextField
                  name="username"
                  label="Email"
                  readOnly
                  value={offered.email}
                  autoComplete="username"
                  className="h-10"
                />
                <TextField
                  name="displayName"
                  label="Your name"
                  maxLength={255}
                  autoComplete="name"
                  className="h-10"
                />
                <TextField
                  name="password"
                  label="Password"
                  hint="At least 12 characters."
                  type="password"
                  required
                  minLength={12}
                  maxLength={200}
                  autoComplete="new-password"
                  value={password}
                  onChange={({ target }) => setPassword(target.value)}
                  className="h-10"
                />
              </>
            )}
            <Button type="submit" variant="primary" size="lg" pending={accept.isPending} className="w-full">
              Accept invitation
            </Button>
          </Form>
        )}
      </Card>
    </>
  );
}
