import type { Capability, CapabilityFault, UnfitAnswer } from "@/server/capabilities/define";
import type { Estimate } from "@/server/domain/quotes";
import { isErrorCode } from "@/server/platform/errors/errors";
import type { AnyCall } from "@/server/providers/define";
import {
  type CallFailed,
  type CallOutcome,
  failed,
  type Observed,
  type ProviderMessage,
} from "./call-outcome";
import { addUsage, usageOf } from "./money";
import { kindOfUnusable, type OutcomeKind, rowOf } from "./outcomes";

/** An answer arrived, and the capability finds it unfit. */
export type Unfit = { state: "unfit"; observed: Observed; answer: unknown; fault: UnfitAnswer };

/** A call whose answer may be sent back for repair. */
type Repairable = { capability: Capability; call: AnyCall; estimate: Pick<Estimate, "bounds"> };

/** The call that sends an unfit answer back for repair; null if none was planned. */
export function repairOf(
  { capability: { execute }, call, estimate }: Repairable,
  unfit: Unfit,
): AnyCall | null {
  if ("local" in execute || !execute.repair || estimate.bounds.submissions !== 2) return null;
  return execute.repair.call(call as never, unfit.answer as never, unfit.fault); // typed by its port and capability
}

/**
 * The failure of an answer that the capability rejected. The provider did the work, so a known cost is
 * charged.
 */
export function failedAs(fault: CapabilityFault, observed: Observed, code: string = fault.code): CallFailed {
  return failed(kindOfUnusable(observed.costMicros), fault.message, observed, {
    code: isErrorCode(code) ? code : "PROVIDER_ERROR",
    ...(Object.keys(fault.details).length > 0 ? { details: fault.details } : {}),
  });
}

/** Combines a call whose answer was unfit and its repair into one outcome, with the figures of both. */
export function joined({ observed: first, fault }: Unfit, second: CallOutcome | Unfit): CallOutcome {
  const unrepaired = (
    why: string,
    observed: Observed,
    said?: ProviderMessage,
    kind?: OutcomeKind,
  ): CallFailed =>
    failed(kind ?? kindOfUnusable(observed.costMicros), `${fault.message} ${why}`, observed, {
      code: "StructuredOutputRepairFailed",
      ...(Object.keys(fault.details).length > 0 ? { details: fault.details } : {}),
      ...(said ? { said } : {}),
    });
  switch (second.state) {
    case "succeeded":
      return { ...second, observed: ofBoth(first, second.observed) };
    case "unfit":
      return failedAs(second.fault, ofBoth(first, second.observed), second.fault.codeAfterRepair);
    case "failed": {
      const { kind, settlement, said } = second;
      const both = ofKnown(first, second.observed);
      if (settlement === "ambiguous") return { ...second, observed: both };
      if (settlement === "released")
        return unrepaired("The provider rejected the repair attempt.", first, said);
      const isAnswered = kind === "unusable" || kind === "unusable_without_usage";
      if (isAnswered) {
        const whole = kindOfUnusable(both.costMicros);
        return { ...second, kind: whole, settlement: rowOf(whole).settlement, observed: both };
      }
      const billed = kind === "billed_error" ? kind : undefined;
      return unrepaired("The repair attempt failed at the provider.", both, said, billed);
    }
    case "retryable":
      return unrepaired("The provider had no capacity for a repair attempt.", first, second.said);
    case "aborted":
      return { ...second, submission: "attempted" };
    case "pending":
      // Does not happen where repairs are planned: the costs of the two calls could no longer be separated.
      return unrepaired(
        "The provider did not answer the repair attempt in time.",
        { ...first, submissions: 2 },
        undefined,
        "lost",
      );
  }
}

/**
 * A sum is an estimate if either cost is. It is partial if either cost is partial or only one is known,
 * because the provider may charge more than the sum.
 */
function estimatedOf(first: Observed, second: Observed): Pick<Observed, "estimated"> {
  const isPart = (first.costMicros === null) !== (second.costMicros === null);
  const either: Observed["estimated"][] = [first.estimated, second.estimated, isPart ? "partial" : undefined];
  const estimated = either.includes("partial") ? "partial" : either.find((each) => each !== undefined);
  return estimated ? { estimated } : {};
}

/** The second answer with the figures of both. One unknown figure makes its sum unknown. */
function ofBoth(first: Observed, second: Observed): Observed {
  const isKnown = first.costMicros !== null && second.costMicros !== null;
  const usage = first.usage && second.usage ? addUsage(first.usage, second.usage) : null;
  return {
    ...ofKnown(first, second),
    usage,
    costMicros: isKnown ? first.costMicros! + second.costMicros! : null,
  };
}

/** The figures for a repair without a result: the known figures of both calls are charged. */
function ofKnown(first: Observed, second: Observed): Observed {
  const isKnown = first.costMicros !== null || second.costMicros !== null;
  return {
    ...second,
    ...estimatedOf(first, second),
    usage: usageOf([first, second]),
    costMicros: isKnown ? (first.costMicros ?? 0) + (second.costMicros ?? 0) : null,
    submissions: 2,
  };
}

/** The outcome of a call that is not repaired: an unfit answer is a failure. */
export const settled = (outcome: CallOutcome | Unfit): CallOutcome =>
  outcome.state === "unfit" ? failedAs(outcome.fault, outcome.observed) : outcome;
