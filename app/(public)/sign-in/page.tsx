import type { Metadata } from "next";
import { redirect } from "next/navigation";
import type { ComponentProps } from "react";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { CodeForm } from "@/components/sign-in/code-form";
import { SIGN_IN_REASONS, SWITCH } from "@/components/sign-in/messages";
import { SignInForm } from "@/components/sign-in/sign-in-form";
import { Card } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { ownPath } from "@/server/auth/callback-url";
import { identityNames } from "@/server/auth/identities";
import { findPerson, isCodeWaitedFor } from "@/server/auth/session";
import { publicUrl } from "@/server/platform/settings/env";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function SignInPage({ searchParams }: Props) {
  const params = await searchParams;
  const next = ownPath(single(params.callbackUrl), publicUrl);
  const why = single(params.reason) ?? "";
  if (why !== SWITCH && (await findPerson())) redirect(next);
  if (why !== SWITCH && (await isCodeWaitedFor()))
    return <CodePage next={next} error={single(params.error) ?? null} publicUrl={publicUrl} />;
  const reason = SIGN_IN_REASONS[why];
  return (
    <PlainPage>
      <PlainTitle title="Sign in to Capstan" />
      <Card className="p-5">
        {reason && (
          <Notice tone="busy" role="status" className="mb-4">
            {reason}
          </Notice>
        )}
        {/* Without JavaScript the form could be submitted, but its response is not usable. */}
        <noscript>
          <style>{"#sign-in-form { display: none }"}</style>
          <Notice tone="warn" title="Signing in needs JavaScript.">
            Turn it on for this site and reload the page. The API and the command line work without it.
          </Notice>
        </noscript>
        <SignInForm
          next={next}
          error={single(params.error) ?? null}
          providers={identityNames()}
          publicUrl={publicUrl}
        />
      </Card>
    </PlainPage>
  );
}

function CodePage(props: ComponentProps<typeof CodeForm>) {
  return (
    <PlainPage>
      <PlainTitle title="Enter a code">Your account has a second factor.</PlainTitle>
      <Card className="p-5">
        <CodeForm {...props} />
      </Card>
    </PlainPage>
  );
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
