import { Amount } from "@/components/blocks/money/amount";
import { dollars } from "@/components/blocks/money/money";
import type { Charge } from "@/server/contract/charge";

/** Explanations of amounts that are not simply the price paid. */
const NOTES: Partial<Record<Charge["state"], string>> = {
  reserved: "at most",
  covered: "covered",
  byok: "the provider bills you",
  written_off: "written off",
};
const UNKNOWN = "Not known yet";

/** The customer's charge for an execution: the amount, which may be unknown, and its explanation. */
export const chargeText = ({ state, chargedMicros, authorizedMicros }: Charge) => ({
  micros: state === "unsettled" ? null : state === "reserved" ? authorizedMicros : (chargedMicros ?? 0),
  note: NOTES[state],
});

/** The charge as a sentence. */
export function chargeWords(charge: Charge): string {
  const { micros, note } = chargeText(charge);
  return micros === null ? UNKNOWN : [dollars(micros), note].filter(Boolean).join(", ");
}

/** The charge in a column. */
export function ChargeAmount({ charge }: { charge: Charge }) {
  const { micros, note } = chargeText(charge);
  return micros === null ? (
    <span className="text-xs text-muted">{UNKNOWN}</span>
  ) : (
    <Amount of={micros} note={note} />
  );
}
