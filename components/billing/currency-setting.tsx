"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Choice } from "@/components/ui/choice";
import type { BillingCurrency, Wallet } from "@/server/contract/billing";
import { BILLING_CURRENCIES } from "@/server/contract/enums";

const NAMES: Record<BillingCurrency, string> = { USD: "US dollars", CAD: "Canadian dollars" };

/** The currency that an organization pays in. Its wallet stays in US dollars. */
export function CurrencySetting({ wallet, canChange }: { wallet: Wallet; canChange: boolean }) {
  const trpc = useTRPC();
  const save = useAction(trpc.billing.setCurrency.mutationOptions(), {
    done: "Currency saved",
    refresh: [trpc.billing.wallet.pathKey()],
    isInPlace: true,
  });
  return (
    <Card aria-labelledby="currency-title">
      <CardHeader id="currency-title" title="Currency" />
      <CardBody className="space-y-3">
        <Refusal error={save.error} />
        {canChange ? (
          <div className="max-w-56">
            <Choice
              label="Pay in"
              value={wallet.billingCurrency}
              disabled={save.isPending}
              options={BILLING_CURRENCIES.map((each) => [each, NAMES[each]])}
              onChange={(value) =>
                save.mutate({
                  organizationId: wallet.organizationId,
                  billingCurrency: oneOfOr("USD", BILLING_CURRENCIES)(value),
                })
              }
            />
          </div>
        ) : (
          <p className="text-sm">{NAMES[wallet.billingCurrency]}</p>
        )}
        <p className="text-xs text-muted">
          The wallet is always in US dollars.
          {wallet.fx &&
            ` One US dollar is ${wallet.fx.rateScaled / 10 ** wallet.fx.scale} ${wallet.fx.quoteCurrency}.`}
        </p>
      </CardBody>
    </Card>
  );
}
