import { dollars } from "@/components/blocks/money/money";
import type { Charge } from "@/server/contract/charge";

/** What the customer pays for an execution, in words that say why where it is not simply an amount. */
export function chargeWords({ state, chargedMicros, authorizedMicros }: Charge): string {
  const amount = dollars(chargedMicros ?? 0);
  switch (state) {
    case "reserved":
      return `Up to ${dollars(authorizedMicros)}`;
    case "unsettled":
      return "Not known yet";
    case "covered":
      return `${amount}, covered`;
    case "byok":
      return `${amount}, the provider bills you`;
    case "written_off":
      return `${amount}, written off`;
    case "charged":
    case "not_charged":
      return amount;
  }
}
