import { Amount } from "@/components/blocks/money/amount";
import { formatMoney } from "@/components/blocks/money/money";
import { Section } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import type { Wallet, WalletMoney } from "@/server/contract/billing";
import { TEST_MONEY } from "./test-money";

/** The balance of live money, or of test money. */
export function WalletCard({ wallet, isTest }: { wallet: Wallet; isTest: boolean }) {
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
