import type { Pool } from "undici";
import { type AddressRules, PRIVATE_ADDRESS, PRIVATE_REFUSED, refusalOfAddress } from "./addresses";
import { exchange } from "./exchange";
import { codeOf, whyUnreachable } from "./failures";
import { keepPools, openPool } from "./pools";

const CONNECTIONS_PER_RECEIVER = 32;

/** The response's status, or the reason why there was none. Nothing else that the receiver sends is kept. */
export type PostOutcome = { status: number; error: null } | { status: null; error: string };

/** Separate from the providers' connections, so that callers' receivers cannot evict those. */
const receiverOf = keepPools<{ pool: Pool }>();

/**
 * Posts a text once to a URL that a caller gave, and resolves with the status of the response. Never rejects. Follows no
 * redirect and discards the response body.
 */
export async function postText(
  address: string,
  body: string,
  headers: Record<string, string>,
  { signal, ...rules }: AddressRules & { signal: AbortSignal },
): Promise<PostOutcome> {
  if (!URL.canParse(address)) return { status: null, error: "The address is not a URL." };
  const url = new URL(address);
  const refusal = refusalOfAddress(url, rules);
  if (refusal) return { status: null, error: refusal };
  const { allowPrivateAddresses } = rules;
  const { pool } = receiverOf(`${allowPrivateAddresses ? "private " : ""}${url.origin}`, () => ({
    pool: openPool(url.origin, { connections: CONNECTIONS_PER_RECEIVER, allowPrivateAddresses }),
  }));
  const outcome = await exchange(
    {
      pool,
      origin: url.origin,
      path: url.pathname + url.search,
      method: "POST",
      headers: { accept: "*/*", ...headers },
      body,
      signal,
    },
    { onHead: () => "enough", onChunk: () => "enough" },
  );
  if (outcome.state === "answered") return { status: outcome.answer.status, error: null };
  if (outcome.isStopped) return { status: null, error: "The receiver did not respond in time." };
  if (outcome.state === "lost")
    return { status: null, error: "The connection was lost before the receiver responded." };
  const isPrivate = codeOf(outcome.error) === PRIVATE_ADDRESS;
  return { status: null, error: isPrivate ? PRIVATE_REFUSED : whyUnreachable(outcome.error, "receiver") };
}
