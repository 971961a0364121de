"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import type { Account } from "@/server/contract/sessions";
import { AccountName } from "./presence-field";

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
