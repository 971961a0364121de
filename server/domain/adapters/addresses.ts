import { SANDBOX } from "@/server/domain/catalog";
import { baseUrlOf } from "@/server/domain/connections";
import { hubFileUrl } from "@/server/model-sources";
import { refusalOfAddress } from "@/server/platform/http";
import { env } from "@/server/platform/settings/env";
import type { ImageCall } from "@/server/providers/define";
import type { Provider } from "@/server/providers/provider";
import type { ResolvedAdapter } from "./rows";
import { findStored, ownAddress, weightsLink } from "./sources/weights-link";

type Kind = ResolvedAdapter["source"]["kind"];

/**
 * Origin from which weights of a kind are fetched; null if their provider knows them by its own reference.
 */
const originOf = (kind: Kind): string | null =>
  ({ provider_ref: null, huggingface: env.HF_BASE_URL, service_artifact: ownAddress() })[kind];

const isPrivate = (address: string) =>
  refusalOfAddress(new URL(address), { allowHttp: true, allowPrivateAddresses: false }) !== null;

/**
 * The private address that this provider would have to fetch weights from and cannot reach; null if it
 * reaches them.
 */
export function unreachableFor(provider: Provider, kind: Kind): string | null {
  const origin = originOf(kind);
  if (origin === null || provider.name === SANDBOX || !isPrivate(origin)) return null;
  // A provider at a private address, such as a vendor's substitute on this machine, reaches private
  // addresses.
  const base = baseUrlOf(provider);
  return base !== null && isPrivate(base) ? null : origin;
}

/**
 * The adapters of a provider call, as admission fixed them. Links into our own store work until `expiresAt`
 * and are stored nowhere. Null if weights in our store were removed.
 */
export async function toCall(
  adapters: ResolvedAdapter[],
  provider: Provider,
  expiresAt: Date,
): Promise<NonNullable<ImageCall["adapters"]> | null> {
  const own = adapters.flatMap(({ artifactId }) => artifactId ?? []);
  const stored = await Promise.all(own.map(findStored));
  if (stored.includes(null)) return null;
  return adapters.map((adapter) => ({
    url: addressOf(adapter, provider, expiresAt),
    weight: adapter.weight,
  }));
}

function addressOf({ source, artifactId }: ResolvedAdapter, provider: Provider, expiresAt: Date): string {
  const { kind, ref, revision, filePath } = source;
  if (kind === "provider_ref") {
    // `replicate:owner/model` repeats the provider's name; the vendor knows only the rest.
    const own = ref.startsWith(`${provider.name}:`) ? ref.slice(provider.name.length + 1) : ref;
    return revision === null ? own : (provider.adapterReference?.(own, revision) ?? own);
  }
  if (kind === "service_artifact" && artifactId) return weightsLink(artifactId, expiresAt);
  if (kind === "huggingface" && revision && filePath) return hubFileUrl(ref, revision, filePath);
  throw new Error(`an adapter was admitted whose ${kind} has no file`);
}
