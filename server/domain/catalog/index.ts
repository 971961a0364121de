export { accessDecisionFor, refusalOf } from "./access-decision";
export { routeBundle } from "./bundle";
export { connectUrlOf } from "./connect-url";
export { connectableProviders } from "./connectable";
export { describeCapability, executionTargets, toSummary } from "./describe";
export { healthNow, noteFailure, noteSuccess, readHealth } from "./health";
export { list, matching } from "./list";
export { type Need, needsOf } from "./needs";
export { isListed, type PriceTerms, priceAtMost, priceOf, serviceFee } from "./price";
export { feeBpsOf, PRICING_VERSION, SERVICE_FEE_BPS } from "./pricing";
export {
  type Published,
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
export { chooseRoute, ROUTING_POLICY_VERSION, type Route, type RouteWish, routeUnavailable } from "./routes";
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
  targetsOf,
} from "./targets";
export { type Viewer, viewerOf } from "./viewer";
