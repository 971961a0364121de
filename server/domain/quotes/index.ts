export { priceOf, serviceFee } from "@/server/domain/catalog";
export { forMaker, MOST_OPAQUE_BYTES } from "./brought-back";
export { checkCallCeiling } from "./ceilings";
export { checkQuote } from "./check";
export { describeAdapters } from "./describe-adapters";
export {
  credentialIdsOf,
  type Estimate,
  estimate,
  FREE,
  type ProcessingMode,
  type StageEstimate,
} from "./estimate";
export { toFault, withFaults } from "./faults";
export { outputLimits } from "./output-limits";
export { type ExecutionPlan, fundedFor, planExecution } from "./plan";
export { pricingOf, quote } from "./quote";
export {
  executionOfCall,
  type ReturnedMembers,
  readReturnedMembers,
  withReturnedMembers,
} from "./returned-members";
export { callOptions, type RoutingRequest } from "./routing-request";
export { inputSources, materialize, readSources } from "./sources";
export { requestStages } from "./stages";
export { inputTokensAtMost, messageTokensAtMost, tokensAbove } from "./tokens";
