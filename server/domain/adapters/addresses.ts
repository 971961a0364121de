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

/** Where weights of a kind are fetched from; null: their provider knows them by a word of its own. */
const originOf = (kind: Kind): string | null =>
  ({ provider_ref: null, huggingface: env.HF_BASE_URL, service_artifact: ownAddress() })[kind];

const isPrivate = (address: string) =>
  refusalOfAddress(new URL(address), { allowHttp: true, allowPrivateAddresses: false }) !== null;

/** The address this provider would have to fetch weights from and cannot reach: a private one, from outside; else null. */
export function unreachableFor(provider: Provider, kind: Kind): string | null {
  const origin = originOf(kind);
  if (origin === null || provider.name === SANDBOX || !isPrivate(origin)) return null;
  // What is private itself, such as a vendor's substitute on this machine, reaches what is.
  const base = baseUrlOf(provider);
  return base !== null && isPrivate(base) ? null : origin;
}

/**
 * What a call has for the adapters of an execution, each fixed as it was at admission. Addresses into our own store are good
 * until then and are nowhere else. Null: weights of ours are not there any more.
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
    // `replicate:owner/model` names the provider a second time; the vendor knows the rest alone.
    const own = ref.startsWith(`${provider.name}:`) ? ref.slice(provider.name.length + 1) : ref;
    return revision === null ? own : (provider.adapterReference?.(own, revision) ?? own);
  }
  if (kind === "service_artifact" && artifactId) return weightsLink(artifactId, expiresAt);
  if (kind === "huggingface" && revision && filePath) return hubFileUrl(ref, revision, filePath);
  throw new Error(`an adapter was admitted whose ${kind} has no file`);
}
