"use client";
import { type FormEvent, useState } from "react";
import { CodeInput } from "@/components/account/code-input";
import { signIn } from "@/components/sign-in/sign-in";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Notice } from "@/components/ui/notice";
import { codeMessage, SWITCH } from "./messages";

/** The second step of signing in. */
export function CodeForm({
  next,
  error,
  publicUrl,
}: {
  next: string;
  error: string | null;
  publicUrl: string;
}) {
  const [failure, setFailure] = useState(error);
  const [isPending, setPending] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    setPending(true);
    setFailure(null);
    const code = new FormData(form).get("code");
    const answer = await signIn("code", { code, redirect: false }).catch(() => ({
      ok: false,
      error: "Unreachable",
    }));
    if (answer?.ok && !answer.error) {
      window.location.assign(next); // a full page load, so that nothing of an earlier reader stays in memory
      return;
    }
    setFailure(answer?.error ?? "Unreachable");
    setPending(false);
    form.querySelector<HTMLInputElement>("input[name=code]")?.select();
  }

  return (
    <form method="post" action="/api/auth/callback/code" onSubmit={submit} className="space-y-4">
      {failure && (
        <Notice tone="bad" role="alert">
          {codeMessage(failure, publicUrl)}
        </Notice>
      )}
      <Field id="code" label="Code" hint="From your authenticator app, or a recovery code.">
        {(aria) => (
          <CodeInput {...aria} aria-invalid={failure === "CredentialsSignin" || undefined} className="h-10" />
        )}
      </Field>
      <Button type="submit" variant="primary" size="lg" pending={isPending} className="w-full">
        Sign in
      </Button>
      <Button asChild variant="ghost" className="w-full">
        <a href={`/sign-in?${new URLSearchParams({ reason: SWITCH, callbackUrl: next })}`}>Switch account</a>
      </Button>
    </form>
  );
}
