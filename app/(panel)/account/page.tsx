import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { AccountRoom } from "@/components/account/account-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Account" };

export default async function AccountPage() {
  await requirePerson("/account");
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.account.read.queryOptions()),
      queryClient.fetchQuery(trpc.account.sessions.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <AccountRoom />
    </HydrationBoundary>
  );
}
