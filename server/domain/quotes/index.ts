export { priceOf, serviceFee } from "@/server/domain/catalog";
export { asFault, toFault } from "./as-fault";
export { answerNamed, type Brought, broughtCall, broughtMessage } from "./at-doors";
export { forMaker, MOST_OPAQUE_BYTES } from "./brought-back";
export { checkCallCeiling } from "./ceilings";
export { checkQuote } from "./check";
export { describeAdapters } from "./describe-adapters";
export {
  credentialIdsOf,
  type Estimate,
  estimate,
  FREE,
  type Processing,
  type StageEstimate,
} from "./estimate";
export { outputLimits } from "./output-limits";
export { type ExecutionPlan, fundedFor, planExecution } from "./plan";
export { pricingOf, quote } from "./quote";
export { callOptions, type RoutingRequest } from "./routing-request";
export { materialize, readSources, sourcesOf } from "./sources";
export { stagesOf } from "./stages";
export { inputTokensAtMost, messageTokensAtMost, tokensAbove } from "./tokens";
