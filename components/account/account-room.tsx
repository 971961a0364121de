"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
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
        <SessionList />
        <PasswordCard account={account} />
        <SecondFactorCard account={account} />
      </div>
    </>
  );
}
