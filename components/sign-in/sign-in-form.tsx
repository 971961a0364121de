"use client";
import { Eye, EyeOff } from "lucide-react";
import { type FormEvent, useState } from "react";
import { signIn } from "@/components/sign-in/sign-in";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { signInMessage } from "./messages";

export type IdentityProvider = { id: string; name: string };

/** Email and password, and the configured identity providers. */
export function SignInForm({
  next,
  error,
  providers,
  publicUrl,
}: {
  /** The page to show afterwards: one of our own paths. */
  next: string;
  /** The error code of an earlier attempt that returned here. */
  error: string | null;
  providers: IdentityProvider[];
  /** This installation's configured address. */
  publicUrl: string;
}) {
  const [failure, setFailure] = useState(error);
  const [isPending, setPending] = useState(false);
  const [isShown, setShown] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    setPending(true);
    setFailure(null);
    const answer = await signIn("credentials", {
      email: fields.get("email"),
      password: fields.get("password"),
      redirect: false,
    }).catch(() => ({ ok: false, error: "Unreachable" }));
    if (answer?.ok && !answer.error) {
      // Loads this page again, which may ask for a code. A full load keeps nothing of an earlier reader in memory.
      window.location.assign(`/sign-in?${new URLSearchParams({ callbackUrl: next })}`);
      return;
    }
    setFailure(answer?.error ?? "Unreachable");
    setPending(false);
    form.querySelector<HTMLInputElement>("input[name=password]")?.select();
  }

  return (
    <div id="sign-in-form" className="space-y-4">
      {failure && (
        <Notice tone="bad" role="alert">
          {signInMessage(failure, publicUrl)}
        </Notice>
      )}
      {/* `method` and `action` ensure that a click before the script runs never puts the password into a URL. */}
      <form method="post" action="/api/auth/callback/credentials" onSubmit={submit} className="space-y-4">
        <div className="space-y-1.5">
          <Label htmlFor="email">Email</Label>
          <Input
            id="email"
            name="email"
            type="email"
            autoComplete="username"
            required
            maxLength={320}
            className="h-10"
          />
        </div>
        <div className="space-y-1.5">
          <Label htmlFor="password">Password</Label>
          <div className="relative">
            <Input
              id="password"
              name="password"
              type={isShown ? "text" : "password"}
              autoComplete="current-password"
              required
              maxLength={1024}
              aria-invalid={failure === "CredentialsSignin" || undefined}
              className="h-10 pr-10"
            />
            <Button
              variant="ghost"
              size="icon"
              aria-label="Show password"
              aria-pressed={isShown}
              onClick={() => setShown(!isShown)}
              className="absolute top-1 right-1"
            >
              {isShown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
            </Button>
          </div>
        </div>
        <Button type="submit" variant="primary" size="lg" pending={isPending} className="w-full">
          Sign in
        </Button>
      </form>
      {providers.length > 0 && (
        <>
          <div className="flex items-center gap-3 text-xs text-muted">
            <span className="h-px flex-1 bg-line" />
            or
            <span className="h-px flex-1 bg-line" />
          </div>
          <div className="grid gap-2">
            {providers.map(({ id, name }) => (
              <Button key={id} size="lg" onClick={() => signIn(id, { callbackUrl: next })}>
                Continue with {name}
              </Button>
            ))}
          </div>
        </>
      )}
    </div>
  );
}
