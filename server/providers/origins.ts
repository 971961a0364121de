import type { Pool } from "undici";
import { isPrivateLiteral, keepPools, openPool } from "@/server/platform/http";
import { ProviderFault, type ProviderIo } from "./define";
import { ALLOW, PRIVATE_PROVIDER_REFUSED } from "./faults";

const CONNECTIONS_PER_ORIGIN = 256;

export type Origin = { origin: string; prefix: string; search: string; pool: Pool };
type Io = Pick<ProviderIo, "baseUrl" | "allowPrivateAddresses" | "isOperatorsAddress">;

const kept = keepPools<Origin>();

/** The connections to a provider's server, cached by address. Throws ProviderFault if its address cannot be called. */
export const providerOrigin = (io: Io): Origin => kept(keyOf(io), () => openOrigin(io));

const keyOf = ({ baseUrl, allowPrivateAddresses, isOperatorsAddress }: Io) =>
  `${allowPrivateAddresses ? "private " : ""}${isOperatorsAddress ? "operator " : ""}${baseUrl}`;

function openOrigin(io: Io): Origin {
  const refuse = (message: string) => new ProviderFault("unreachable", "not_attempted", message);
  if (!URL.canParse(io.baseUrl)) throw refuse("The provider's base URL is not a URL.");
  const url = new URL(io.baseUrl);
  if (url.username || url.password) throw refuse("The provider's base URL must not carry credentials.");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && io.allowPrivateAddresses)) {
    throw refuse(
      `The provider's base URL must start with https.${url.protocol === "http:" ? ` ${ALLOW}` : ""}`,
    );
  }
  if (isPrivateLiteral(url) && !io.allowPrivateAddresses) throw refuse(PRIVATE_PROVIDER_REFUSED);
  const pool = openPool(url.origin, {
    connections: CONNECTIONS_PER_ORIGIN,
    allowPrivateAddresses: io.allowPrivateAddresses,
    isOperators: io.isOperatorsAddress === true,
  });
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, ""), search: url.search, pool };
}
