"use client";
import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { FormFailure, useFailure } from "@/components/form-failure";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { useMutation } from "@/components/use-mutation";
import type { Account, NewSecondFactor } from "@/server/contract/sessions";
import { CodeField } from "./code-field";
import { PresenceField } from "./presence-field";

const meta = { isShownInPlace: true };

/** Sets up a second factor: confirms the password, shows the secret, then asks for a code. */
export function SecondFactorSetup({
  account,
  onCodes,
}: {
  account: Account;
  onCodes: (codes: string[]) => void;
}) {
  const trpc = useTRPC();
  const start = useMutation(trpc.account.startSecondFactor.mutationOptions({ meta }));
  const { form, failure, problemOf } = useFailure(start.error);
  if (start.data) return <Confirmation made={start.data} onCodes={onCodes} />;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get("password");
    start.mutate(password === null ? {} : { password: String(password) });
  }

  return (
    <form ref={form} onSubmit={submit} className="space-y-4">
      <p>
        Signing in will also require a code from an authenticator app, so a stolen password is not enough.
        Turning this on ends your other sessions.
      </p>
      <FormFailure failure={failure} />
      <PresenceField id="second-factor-password" account={account} problem={problemOf("password")} />
      <Button type="submit" pending={start.isPending}>
        Set up
      </Button>
    </form>
  );
}

function Confirmation({ made, onCodes }: { made: NewSecondFactor; onCodes: (codes: string[]) => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const confirm = useMutation(
    trpc.account.confirmSecondFactor.mutationOptions({
      meta,
      onSuccess({ recoveryCodes }) {
        onCodes(recoveryCodes);
        return queryClient.invalidateQueries(trpc.account.pathFilter());
      },
    }),
  );
  const { form, failure, problemOf } = useFailure(confirm.error);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    confirm.mutate({ code: String(new FormData(event.currentTarget).get("code")) });
  }

  return (
    <form ref={form} onSubmit={submit} className="space-y-4">
      <p>
        Scan this with an authenticator app, or enter the key manually. Then enter the code the app shows.
      </p>
      {/* biome-ignore lint/performance/noImgElement: an inline image, with nothing to load */}
      <img
        alt="QR code for the key below"
        src={`data:image/svg+xml,${encodeURIComponent(made.qrCode)}`}
        className="size-48 rounded-md border border-line bg-white"
      />
      <p className="flex flex-wrap items-center gap-2">
        <code className="[overflow-wrap:anywhere]" data-testid="second-factor-secret">
          {made.secret.match(/.{1,4}/g)?.join(" ")}
        </code>
        <CopyButton text={made.secret} what="the key" />
      </p>
      <FormFailure failure={failure} />
      <CodeField hint="Six digits that change every 30 seconds." problem={problemOf("code")} />
      <Button type="submit" variant="primary" pending={confirm.isPending}>
        Turn on
      </Button>
    </form>
  );
}
