"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { oneOfOr } from "@/components/blocks/list/list-state";
import { useTRPC } from "@/components/trpc";
import { Choice } from "@/components/ui/choice";
import type { BillingCurrency, Wallet } from "@/server/contract/billing";

const NAMES: Record<BillingCurrency, string> = { USD: "US dollars", CAD: "Canadian dollars" };

type Props = { wallet: Wallet; currencies: readonly BillingCurrency[] };

/** The currency that an organization pays in. Its wallet stays in US dollars. */
export function CurrencySetting({ wallet, currencies }: Props) {
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
