import type { CapabilityFault, UnfitAnswer } from "@/server/capabilities/define";
import { type ErrorCode, isErrorCode } from "@/server/errors";
import type { AnyCall, Usage } from "@/server/providers/define";
import {
  type CallOutcome,
  costSettlement,
  failed,
  type Observed,
  type ProviderSaid,
  type Work,
} from "./outcome";

/** An answer came, and the capability finds it unfit. */
export type Unfit = { state: "unfit"; observed: Observed; answer: unknown; fault: UnfitAnswer };

/** The call that gives an unfit answer back; null: none was planned. */
export function repairOf({ capability: { execute }, call, estimate }: Work, unfit: Unfit): AnyCall | null {
  if ("local" in execute || !execute.repair || estimate.bounds.submissions !== 2) return null;
  return execute.repair.call(call as never, unfit.answer as never, unfit.fault); // all of this port and capability
}

/** An answer that the capability refused: it was made, and costs what it cost. */
export function failedAs(
  fault: CapabilityFault,
  observed: Observed,
  code: string = fault.code,
): Extract<CallOutcome, { state: "failed" }> {
  const known: ErrorCode = isErrorCode(code) ? code : "PROVIDER_ERROR";
  return failed(known, fault.message, observed, costSettlement(observed), fault.details);
}

/** What became of two calls of which the first was answered unfit: one outcome, with the figures of both. */
export function joined({ observed: first, fault }: Unfit, second: CallOutcome | Unfit): CallOutcome {
  const unrepaired = (why: string, observed: Observed, settlement = costSettlement(observed)) =>
    failed("StructuredOutputRepairFailed", `${fault.message} ${why}`, observed, settlement, fault.details);
  switch (second.state) {
    case "succeeded":
      return { ...second, observed: ofBoth(first, second.observed) };
    case "unfit":
      return failedAs(second.fault, ofBoth(first, second.observed), second.fault.codeAfterRepair);
    case "failed":
      switch (second.settlement) {
        case "released":
          return { ...unrepaired("The provider rejected the repair attempt.", first), ...saidOf(second) };
        case "hold":
          return {
            ...unrepaired(
              "The repair attempt failed at the provider.",
              ofBoth(first, second.observed),
              "hold",
            ),
            ...saidOf(second),
          };
        default:
          return { ...second, observed: ofBoth(first, second.observed) };
      }
    case "refused_for_now":
      return {
        ...unrepaired("The provider had no capacity for a repair attempt.", first),
        ...saidOf(second),
      };
    case "aborted":
      return { ...second, submission: "attempted" };
    case "pending":
      // Excluded where repairs are planned; its cost could not be told apart any more.
      return unrepaired(
        "The provider did not answer the repair attempt in time.",
        ofBoth(first, first),
        "ambiguous",
      );
  }
}

const saidOf = ({ said }: { said?: ProviderSaid }) => (said ? { said } : {});

/** The second answer's words, and the figures of both; one that is not known makes the sum unknown. */
function ofBoth(first: Observed, second: Observed): Observed {
  const isKnown = first.costMicros !== null && second.costMicros !== null;
  return {
    ...second,
    usage: first.usage && second.usage ? sum(first.usage, second.usage) : null,
    costMicros: isKnown ? first.costMicros! + second.costMicros! : null,
    submissions: 2,
  };
}

function sum(first: Usage, second: Usage): Usage {
  const figures: Record<string, number> = { ...first };
  for (const [name, value] of Object.entries(second)) figures[name] = (figures[name] ?? 0) + value;
  return figures;
}

/** Of a call that nobody repairs. */
export const settled = (outcome: CallOutcome | Unfit): CallOutcome =>
  outcome.state === "unfit" ? failedAs(outcome.fault, outcome.observed) : outcome;
