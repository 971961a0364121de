"use client";
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { OtherMode, useIsTest } from "@/components/shell/mode";
import { PageHeader } from "@/components/shell/page-header";
import { useTRPC } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { type BillingState, billingHref } from "./billing-state";
import { CommissionPayments } from "./commission-payments";
import { ReturnedNotice } from "./returned-notice";
import { TopUp } from "./top-up";
import { TransactionLog } from "./transaction-log";
import { WalletCard } from "./wallet-card";

/** How often a pending payment is polled. */
const PENDING_MS = 2_000;

/** The billing page of an organization: balances, top-ups and transactions. */
export function BillingRoom({ organizationId, state }: { organizationId: string; state: BillingState }) {
  const trpc = useTRPC();
  const router = useRouter();
  const { data: accounts } = useSuspenseQuery(trpc.billing.accounts.queryOptions());
  const { data: wallet } = useSuspenseQuery(trpc.billing.wallet.queryOptions({ organizationId }));
  const { data: checkout } = useSuspenseQuery(trpc.billing.checkout.queryOptions());
  const account = accounts.find((each) => each.organizationId === organizationId);
  const isTest = useIsTest();
  const canPay = account?.role === "owner" || account?.role === "admin";
  return (
    <>
      <PageHeader
        title="Billing"
        actions={
          accounts.length > 1 && (
            <Select
              value={organizationId}
              onValueChange={(next) => router.push(billingHref({ organizationId: next }))}
            >
              <SelectTrigger aria-label="Organization" className="w-56" />
              <SelectContent>
                {accounts.map((each) => (
                  <SelectItem key={each.organizationId} value={each.organizationId}>
                    {each.displayName}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          )
        }
      >
        Balances, top-ups and transactions of {account?.displayName ?? "your organization"}.
      </PageHeader>
      {state.payment && state.result && <Returned paymentId={state.payment} result={state.result} />}
      <OtherMode has>{(other) => `${other} has a wallet of its own.`}</OtherMode>
      <div className="grid items-start gap-4 md:grid-cols-2">
        <WalletCard wallet={wallet} isTest={isTest} />
        {canPay ? (
          <TopUp wallet={wallet} checkout={checkout} isTest={isTest} />
        ) : (
          <Notice tone="busy" title="Only owners and admins can top up">
            Your role here is {account?.role ?? "none"}. Ask an owner or admin to add funds.
          </Notice>
        )}
      </div>
      <CommissionPayments organizationId={organizationId} />
      <TransactionLog organizationId={organizationId} place={{ cursor: state.cursor, trail: state.trail }} />
    </>
  );
}

/** The outcome of the checkout the reader returns from, according to the payment, not the URL. */
function Returned({ paymentId, result }: { paymentId: string; result: "success" | "canceled" }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { data: payment } = useQuery({
    ...trpc.billing.payment.queryOptions({ paymentId }),
    retry: false,
    refetchInterval: (query) =>
      result === "success" && query.state.data?.state === "open" ? PENDING_MS : false,
  });
  const isPaid = payment?.state === "paid";
  useEffect(() => {
    if (!isPaid) return;
    queryClient.invalidateQueries({ queryKey: trpc.billing.wallet.pathKey() });
    queryClient.invalidateQueries({ queryKey: trpc.billing.transactions.pathKey() });
  }, [isPaid, queryClient, trpc]);
  if (!payment) return null;
  return (
    <div role="status" className="mb-4">
      <ReturnedNotice payment={payment} result={result} />
    </div>
  );
}
