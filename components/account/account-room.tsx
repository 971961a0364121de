"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";
import { IdentityCard } from "./identity-card";
import { PasswordCard } from "./password-card";
import { SecondFactorCard } from "./second-factor-card";
import { SessionList } from "./session-list";

/** A person's own account: where they are signed in, and how they prove who they are. */
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
            {account.askedBy.length === 1 ? "asks" : "ask"} for one. Until you have it, you have no rights
            there; keys and jobs go on.
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
