"use client";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import type { Account } from "@/server/contract/sessions";

/** A password field that confirms the reader's identity; renders nothing for an account without a password. */
export function PresenceField({
  id,
  account,
  problem,
}: {
  id: string;
  account: Account;
  problem: string | undefined;
}) {
  if (!account.hasPassword) return null;
  return (
    <div className="max-w-sm">
      {/* Lets password managers know which account this is. */}
      <input hidden readOnly name="username" autoComplete="username" value={account.email} />
      <Field id={id} label="Your password" problem={problem}>
        {(aria) => (
          <Input
            {...aria}
            name="password"
            type="password"
            autoComplete="current-password"
            required
            maxLength={1000}
          />
        )}
      </Field>
    </div>
  );
}
