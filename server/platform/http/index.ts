/*
 * The only HTTP client: every request to a URL that a caller, a provider or an operator gives goes through it. It knows no
 * vendor and nothing of the product.
 */

export {
  isPrivateLiteral,
  PRIVATE_ADDRESS,
  refusalOfAddress,
} from "./addresses";
export { exchange, type HttpAnswer } from "./exchange";
export { codeOf, whyUnreachable } from "./failures";
export { FetchFault } from "./fetch-fault";
export {
  type Fetched,
  type FetchRequest,
  type FetchRules,
  fetchPublic,
  networkAllowing,
} from "./fetch-public";
export { keepPools, openPool } from "./pools";
export { postText } from "./post-text";
export { isListedHost } from "./public-url";
