"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";
import { IdentityCard } from "./identity-card";
import { PasswordCard } from "./password-card";
import { SecondFactorCard } from "./second-factor-card";
import { SessionList } from "./session-list";

/** The reader's account: second factor, password, identity providers and sessions. */
export function AccountRoom() {
  const { data: account } = useSuspenseQuery(useTRPC().account.read.queryOptions());
  return (
    <>
      <PageHeader title="Account">
        <span className="[overflow-wrap:anywhere]">{account.email}</span>
      </PageHeader>
      <div className="max-w-3xl space-y-6">
        {account.askedBy.length > 0 && (
          <Notice tone="warn" role="status" title="Set up a second factor">
            {new Intl.ListFormat("en").format(account.askedBy)}{" "}
            {account.askedBy.length === 1 ? "requires" : "require"} a second factor. You have no access there
            until you set one up. API keys and jobs keep working.
          </Notice>
        )}
        <SecondFactorCard account={account} />
        <PasswordCard account={account} />
        <IdentityCard account={account} />
        <SessionList />
      </div>
    </>
  );
}
