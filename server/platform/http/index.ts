/*
 * The HTTP client for URLs that callers, providers or operators give; only libraries with a client of their own (such as those of
 * S3, Stripe and sign-in) do without it. The client knows no vendor and nothing of the product but its settings.
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
