"use client";
import { signIn } from "next-auth/react";
import { type FormEvent, useEffect, useState } from "react";
import { PlainTitle } from "@/components/shell/plain-page";
import { sentencesOf, toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { useMutation } from "@/components/use-mutation";
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
  const look = useMutation(
    trpc.organizations.lookAtInvitation.mutationOptions({ meta: { isShownInPlace: true } }),
  );
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
  const accept = useMutation(
    trpc.organizations.acceptInvitation.mutationOptions({
      meta: { isShownInPlace: true },
      async onSuccess({ email, isNew }) {
        sessionStorage.removeItem(KEPT);
        if (isNew) await signIn("credentials", { email, password, redirect: false }).catch(() => null);
        window.location.assign("/"); // a full page load, so that nothing of an earlier reader stays in memory
      },
    }),
  );
  const isRight = signedInAs === offered.email;
  const mustSignIn = !isRight && (offered.isKnown || signedInAs !== null);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const displayName = String(new FormData(event.currentTarget).get("name") ?? "").trim();
    accept.mutate({ token, ...(isRight ? {} : { password, ...(displayName ? { displayName } : {}) }) });
  }
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
        {accept.error && (
          <Notice tone="bad" role="alert" className="mb-4">
            {toFailure(accept.error).issues[0]?.msg ?? sentencesOf(accept.error)}
          </Notice>
        )}
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
          <form onSubmit={submit} className="space-y-4">
            {!isRight && (
              <>
                <div className="space-y-1.5">
                  <Label htmlFor="join-email">Email</Label>
                  <Input
                    id="join-email"
                    name="username"
                    readOnly
                    value={offered.email}
                    autoComplete="username"
                    className="h-10"
                  />
                </div>
                <div className="space-y-1.5">
                  <Label htmlFor="join-name">Your name</Label>
                  <Input id="join-name" name="name" maxLength={255} autoComplete="name" className="h-10" />
                </div>
                <div className="space-y-1.5">
                  <Label htmlFor="join-password">Password</Label>
                  <Input
                    id="join-password"
                    type="password"
                    required
                    minLength={12}
                    maxLength={200}
                    autoComplete="new-password"
                    value={password}
                    onChange={(event) => setPassword(event.target.value)}
                    className="h-10"
                  />
                  <p className="text-xs text-muted">At least 12 characters.</p>
                </div>
              </>
            )}
            <Button type="submit" variant="primary" size="lg" pending={accept.isPending} className="w-full">
              Accept invitation
            </Button>
          </form>
        )}
      </Card>
    </>
  );
}
