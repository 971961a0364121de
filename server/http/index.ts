/*
 * The only HTTP client: every request to a URL that a caller, a provider or an operator gives goes through it. It knows no
 * vendor and nothing of the product.
 */

export {
  type AddressRules,
  isPrivateLiteral,
  isPublicAddress,
  PRIVATE_ADDRESS,
  refusalOfAddress,
} from "./addresses";
export { type Answer, exchange, type Outcome, type Reader } from "./exchange";
export { codeOf, whyUnreachable } from "./failures";
export { FetchFault, type FetchReason } from "./fetch-fault";
export { type Fetched, type FetchRequest, type FetchRules, fetchPublic, networkOf } from "./fetch-public";
export { keepPools, openPool } from "./pools";
export { type PostOutcome, postText } from "./post-text";
export { isListedHost, type Network } from "./public-url";
