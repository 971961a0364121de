"use client";
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { Amount } from "@/components/blocks/money/amount";
import { formatMoney } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { OtherMode, useIsTest } from "@/components/shell/mode";
import { PageHeader } from "@/components/shell/page-header";
import { Section } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import { Select } from "@/components/ui/select";
import type { Wallet, WalletMoney } from "@/server/contract/billing";
import { type BillingState, billingHref } from "./billing-state";
import { CommissionPayments } from "./commission-payments";
import { ReturnedNotice } from "./returned-notice";
import { TEST_MONEY } from "./test-money";
import { TopUp } from "./top-up";
import { TransactionLog } from "./transaction-log";

/** The polling interval of a pending payment. */
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
              aria-label="Organization"
              className="w-56"
              value={organizationId}
              options={accounts.map((each) => ({ value: each.organizationId, label: each.displayName }))}
              onValueChange={(next) => router.push(billingHref({ organizationId: next }))}
            />
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

/** The balance of live money, or of test money. */
function WalletCard({ wallet, isTest }: { wallet: Wallet; isTest: boolean }) {
  const { available, reserved, balance, allowance } = isTest ? wallet.test : wallet;
  const id = isTest ? "test-wallet" : "live-wallet";
  return (
    <Section id={id} title={isTest ? "Test wallet" : "Wallet"} bodyClassName="space-y-4">
      <div>
        <p className="text-2xl font-semibold tabular-nums" data-testid={`${id}-available`}>
          {formatMoney(available)}
        </p>
        <p className="text-sm text-muted">available{inOther(wallet, available.amountMicros)}</p>
      </div>
      <Facts>
        <Fact name="Balance">
          <Amount of={balance} />
        </Fact>
        <Fact name="Reserved">
          <Amount of={reserved} />
        </Fact>
      </Facts>
      {allowance.granted.amountMicros > 0 && <Allowance id={id} wallet={wallet} allowance={allowance} />}
      <p className="text-xs text-muted">
        {isTest
          ? `Its ${TEST_MONEY} pays for sandbox jobs and is never spent on a real provider.`
          : `Pays for jobs on this installation's provider accounts, at the provider's price plus a ${wallet.serviceFeeBps / 100}% service fee.`}
      </p>
    </Section>
  );
}

/** The approximate amount in the organization's currency, when that is not US dollars. */
function inOther({ fx }: Wallet, amountMicros: number): string {
  if (!fx) return "";
  const converted = Math.round((amountMicros / 10_000) * (fx.rateScaled / 10 ** fx.scale)) * 10_000;
  return `, about ${formatMoney({ amountMicros: converted, currency: fx.quoteCurrency })}`;
}

type Props = { id: string; wallet: Wallet; allowance: WalletMoney["allowance"] };

function Allowance({ id, wallet, allowance }: Props) {
  const { granted, remaining } = allowance;
  const part = Math.round((remaining.amountMicros / granted.amountMicros) * 100);
  return (
    <div className="space-y-1.5">
      <div className="flex justify-between gap-2 text-xs">
        <span id={`${id}-allowance`} className="font-medium">
          First-use allowance
        </span>
        <span className="text-muted tabular-nums">
          {formatMoney(remaining)} of {formatMoney(granted)} left
        </span>
      </div>
      <div
        role="progressbar"
        aria-labelledby={`${id}-allowance`}
        aria-valuenow={part}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={`${formatMoney(remaining)} of ${formatMoney(granted)} left`}
        className="meter h-2 overflow-hidden rounded-full bg-sunken ring-1 ring-line ring-inset"
      >
        <div className="h-full rounded-full bg-primary" style={{ width: `${part}%` }} />
      </div>
      <p className="text-xs text-muted">
        Used before the wallet, up to {formatMoney(wallet.trialCeiling)} per execution.
      </p>
    </div>
  );
}
