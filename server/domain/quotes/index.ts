export { priceOf, serviceFee } from "@/server/domain/catalog";
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
export {
  callOptions,
  checkCallCeiling,
  type ExecutionPlan,
  fundedFor,
  planExecution,
  type Wanted,
} from "./plan";
export { pricingOf, quote } from "./quote";
export { ruled, toFault } from "./ruled";
export { materialize, readSources } from "./sources";
export { stagesOf } from "./stages";
export { inputTokensAtMost, messageTokensAtMost } from "./tokens";
