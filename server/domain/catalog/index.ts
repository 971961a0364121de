export { accessDecisionFor, refusalOf } from "./access-decision";
export { MOST_BRIEF_BYTES } from "./brief";
export { connectUrlOf } from "./connect-url";
export { connectableProviders } from "./connectable";
export { describeCapability, executionTargets, toSummary } from "./describe";
export { accountName, healthNow, noteFailure, noteSuccess, readHealth } from "./health";
export { list, matching } from "./list";
export { type Need, needsOf } from "./needs";
export { routeBundle } from "./pricing/bundle";
export { isListed, type PriceTerms, priceAtMost, priceOf, serviceFee } from "./pricing/price";
export { feeBpsOf, PRICING_VERSION, SERVICE_FEE_BPS } from "./pricing/pricing";
export {
  type Published,
  publishedBrief,
  publishedDescriptor,
  publishedList,
  publishedTargets,
  toPublished,
} from "./published";
export { type Reachable, reachableNow } from "./reachable";
export {
  allCapabilities,
  getCapability,
  isCapability,
  isModelBacked,
  nearestKeys,
  noCapability,
} from "./registry";
export { resolve } from "./resolve";
export {
  chooseRoute,
  namedBy,
  ROUTING_POLICY_VERSION,
  type Route,
  type RouteWish,
  routeUnavailable,
} from "./routes";
export { sandboxSource } from "./sandbox-adapter";
export { publish } from "./schema";
export {
  type Account,
  canDefer,
  dependsOnFunds,
  modelIds,
  type Offer,
  offersOf,
  routeKey,
  SANDBOX,
  SHUT,
  type Target,
  targetOf,
  targetsOfPort,
} from "./targets";
export { type Viewer, viewerOf } from "./viewer";
