export { accessDecisionFor, refusalOf } from "./access-decision";
export { MOST_BRIEF_BYTES } from "./brief";
export { connectUrlOf } from "./connect-url";
export { connectableProviders } from "./connectable";
export { describeCapability, executionTargets, toCapabilitySummary } from "./describe";
export { accountName, healthNow, noteSuccess, readHealth, recordRouteFailure } from "./health";
export { list, matchingCapabilities } from "./list";
export { type Need, needsOf } from "./needs";
export { routeBundle } from "./pricing/bundle";
export { hasListedPrice, type PriceTerms, priceAtMost, priceOf, serviceFee } from "./pricing/price";
export { feeBpsOf, PRICING_VERSION } from "./pricing/pricing";
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
  findPlannedTarget,
  modelIds,
  offersOf,
  routeKey,
  SANDBOX,
  SHUT,
  type Target,
  type TargetOffer,
  targetsOfPort,
} from "./targets";
export { type Viewer, viewerOf } from "./viewer";
