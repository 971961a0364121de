"use client";
import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { toFailure, useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import { BillingCurrency, type Wallet } from "@/server/contract/billing";

const NAMES: Record<BillingCurrency, string> = { USD: "US dollars", CAD: "Canadian dollars" };

/** The currency that an organization pays in. Its wallet stays in US dollars. */
export function CurrencySetting({ wallet, canChange }: { wallet: Wallet; canChange: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const save = useMutation(
    trpc.billing.setCurrency.mutationOptions({
      onSuccess: () => {
        toast.success("Currency saved");
        return queryClient.invalidateQueries({ queryKey: trpc.billing.wallet.pathKey() });
      },
      meta: { isShownInPlace: true },
    }),
  );
  return (
    <Card aria-labelledby="currency-title">
      <CardHeader id="currency-title" title="Currency" />
      <CardBody className="space-y-3">
        {save.error && (
          <Notice tone="bad" role="alert">
            {toFailure(save.error).message}
          </Notice>
        )}
        {canChange ? (
          <div className="max-w-56 space-y-1.5">
            <Label htmlFor="currency">Pay in</Label>
            <Select
              value={wallet.billingCurrency}
              disabled={save.isPending}
              onValueChange={(value) =>
                save.mutate({
                  organizationId: wallet.organizationId,
                  billingCurrency: BillingCurrency.parse(value),
                })
              }
            >
              <SelectTrigger id="currency" />
              <SelectContent>
                {BillingCurrency.options.map((each) => (
                  <SelectItem key={each} value={each}>
                    {NAMES[each]}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
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
