"use client";
import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { toast } from "sonner";
import { FormFailure, useFailure } from "@/components/form-failure";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { useMutation } from "@/components/use-mutation";
import type { Account } from "@/server/contract/sessions";

/** Changes the password; an account without one sees a note instead. */
export function PasswordCard({ account }: { account: Account }) {
  return (
    <Card aria-labelledby="password">
      <CardHeader id="password" title="Password" />
      <CardBody>
        {account.hasPassword ? (
          <PasswordForm email={account.email} />
        ) : (
          <p className="text-sm text-muted">
            You sign in with an identity provider, so there is no password to change.
          </p>
        )}
      </CardBody>
    </Card>
  );
}

function PasswordForm({ email }: { email: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const change = useMutation(
    trpc.account.changePassword.mutationOptions({
      onSuccess() {
        form.current?.reset();
        toast.success("Password changed. Your other sessions have ended.");
        return queryClient.invalidateQueries(trpc.account.sessions.queryFilter());
      },
      meta: { isShownInPlace: true },
    }),
  );
  const { form, failure, problemOf } = useFailure(change.error);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    change.mutate({ present: String(fields.get("present")), next: String(fields.get("next")) });
  }

  return (
    <form ref={form} onSubmit={submit} className="max-w-sm space-y-4">
      <FormFailure failure={failure} />
      {/* Lets password managers know which account this is. */}
      <input hidden readOnly name="username" autoComplete="username" value={email} />
      <Field id="present" label="Current password" problem={problemOf("present")}>
        {(aria) => (
          <Input
            {...aria}
            name="present"
            type="password"
            autoComplete="current-password"
            required
            maxLength={1000}
          />
        )}
      </Field>
      <Field id="next" label="New password" hint="At least 12 characters." problem={problemOf("next")}>
        {(aria) => (
          <Input
            {...aria}
            name="next"
            type="password"
            autoComplete="new-password"
            required
            maxLength={1000}
          />
        )}
      </Field>
      <div className="space-y-2">
        <Button type="submit" variant="primary" pending={change.isPending}>
          Change password
        </Button>
        <p className="text-xs text-muted">This ends your other sessions.</p>
      </div>
    </form>
  );
}
