"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { MoneyField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { formatMoney } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { type AmountBounds, amountText, readAmount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import { Notice } from "@/components/ui/notice";
import { useLeave } from "@/components/ui/use-leave";
import type { BillingCurrency, Wallet } from "@/server/contract/billing";
import { TOP_UP_PRESETS } from "@/server/contract/enums";
import { TEST_MONEY } from "./test-money";

const MICROS_PER_CENT = 10_000;
const TOP_UP: AmountBounds = { leastMicros: 500_000, mostMicros: 999_999_000_000, decimals: 2 };

/** Tops up the wallet by a preset or custom amount, or explains that payments are not configured. */
export function TopUp({
  wallet,
  checkout,
  isTest,
}: {
  wallet: Wallet;
  checkout: { test: boolean; currencies: readonly BillingCurrency[] } | null;
  /** True if the shown wallet holds test money. */
  isTest: boolean;
}) {
  const trpc = useTRPC();
  const [amount, setAmount] = useState("25");
  const { isLeaving, leave } = useLeave();
  const start = useAction(trpc.billing.topUp.mutationOptions(), {
    onDone: ({ url }) => leave(url),
    isInPlace: true,
  });
  if (checkout?.test !== isTest)
    return (
      <Notice tone="busy" title="Top-ups are not available">
        Payments {checkout && (isTest ? "in test money " : "in live money ")}are not set up in this
        installation. Ask your operator to set them up or to credit the wallet.
      </Notice>
    );

  const { micros } = readAmount(amount, TOP_UP);
  function send() {
    if (micros === null) return; // the field shows the error
    const [presetKey] = Object.entries(TOP_UP_PRESETS).find(([, preset]) => preset === micros) ?? [];
    start.mutate({
      organizationId: wallet.organizationId,
      amountMicros: micros,
      presetKey: presetKey ?? null,
    });
  }
  return (
    <Section title={checkout.test ? "Top up the test wallet" : "Top up"} bodyClassName="space-y-4">
      <Form action={start} send={send}>
        {checkout.test && (
          <p className="text-sm text-muted">
            No real money moves. This adds {TEST_MONEY} to the test wallet.
          </p>
        )}
        <fieldset className="flex flex-wrap gap-2">
          <legend className="sr-only">Amounts</legend>
          {Object.values(TOP_UP_PRESETS).map((preset) => (
            <Button
              key={preset}
              aria-pressed={preset === micros}
              className="aria-pressed:border-focus aria-pressed:bg-hover"
              onClick={() => setAmount(amountText(preset))}
            >
              ${preset / 1_000_000}
            </Button>
          ))}
        </fieldset>
        <div className="grid items-start gap-2 sm:grid-cols-[minmax(0,1fr)_auto]">
          <MoneyField
            name="amountMicros"
            label="Amount in US dollars"
            bounds={TOP_UP}
            required
            text={amount}
            onText={setAmount}
          />
          {/* Aligned with the input, whose label is above it. */}
          <Button
            type="submit"
            variant="primary"
            className="h-9 sm:mt-6.5"
            pending={start.isPending || isLeaving}
          >
            Continue to checkout
          </Button>
        </div>
        {wallet.fx && micros !== null && (
          <p className="text-sm text-muted">
            You pay about{" "}
            {formatMoney({
              amountMicros:
                Math.ceil((micros / MICROS_PER_CENT) * (wallet.fx.rateScaled / 10 ** wallet.fx.scale)) *
                MICROS_PER_CENT,
              currency: wallet.fx.quoteCurrency,
            })}
            .
          </p>
        )}
      </Form>
      {checkout.currencies.length > 1 && <CurrencySetting wallet={wallet} currencies={checkout.currencies} />}
    </Section>
  );
}

const NAMES: Record<BillingCurrency, string> = { USD: "US dollars", CAD: "Canadian dollars" };

type Props = { wallet: Wallet; currencies: readonly BillingCurrency[] };

/** The currency that an organization pays in. Its wallet stays in US dollars. */
function CurrencySetting({ wallet, currencies }: Props) {
  const trpc = useTRPC();
  const save = useAction(trpc.billing.setCurrency.mutationOptions(), {
    done: "Currency saved",
    refresh: [trpc.billing.wallet.pathKey()],
    isInPlace: true,
  });
  return (
    <div className="border-t border-line-soft pt-4">
      <Refusal error={save.error} />
      <div className="max-w-56">
        <Choice
          label="Pay in"
          value={wallet.billingCurrency}
          disabled={save.isPending}
          options={currencies.map((each) => [each, NAMES[each]])}
          onChange={(value) =>
            save.mutate({
              organizationId: wallet.organizationId,
              billingCurrency: oneOfOr("USD", currencies)(value),
            })
          }
        />
      </div>
      <p className="mt-2 text-xs text-muted">
        The wallet is always in US dollars.
        {wallet.fx &&
          ` One US dollar is ${wallet.fx.rateScaled / 10 ** wallet.fx.scale} ${wallet.fx.quoteCurrency}.`}
      </p>
    </div>
  );
}
