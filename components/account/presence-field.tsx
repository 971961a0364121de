"use client";
import { TextField } from "@/components/blocks/form/fields";
import type { OwnAccount } from "@/server/contract/sessions";

/** Lets password managers know which account this is. */
export const AccountName = ({ email }: { email: string }) => (
  <input hidden readOnly name="username" autoComplete="username" value={email} />
);

/** A password field that confirms the reader's identity; renders nothing for an account without a password. */
export function PresenceField({ account }: { account: OwnAccount }) {
  if (!account.hasPassword) return null;
  return (
    <div className="max-w-sm">
      <AccountName email={account.email} />
      <TextField
        name="password"
        label="Your password"
        type="password"
        autoComplete="current-password"
        required
        maxLength={1000}
      />
    </div>
  );
}
