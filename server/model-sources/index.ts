import { networkOf } from "@/server/platform/http";
import { env } from "@/server/platform/settings/env";
import type { ModelSource, SourceIo, SourceRef } from "./define";
import { httpsLink } from "./https-link";
import { fileUrl } from "./hub-api";
import { huggingface } from "./huggingface";
import { providerRef } from "./provider-ref";
import { serviceArtifact } from "./service-artifact";

/* Where LoRA weights come from. Knows nothing of projects, adapters or who asks. */

export * from "./define";

const TIMEOUT_MS = 15_000;

/** How sources are reached in this installation. */
export function sourceIo(signal?: AbortSignal): SourceIo {
  const hosts = env.ADAPTER_SOURCE_HOSTS;
  return {
    hub: { baseUrl: env.HF_BASE_URL, token: env.HF_TOKEN ?? null },
    rules: {
      hosts: [new URL(env.HF_BASE_URL).hostname, ...hosts],
      network: networkOf(env.ALLOW_PRIVATE_ADDRESSES),
      timeoutMs: TIMEOUT_MS,
      ...(signal ? { signal } : {}),
    },
  };
}

/** In the order in which they are asked whether a text is theirs. */
const sources: ModelSource[] = [serviceArtifact, huggingface, httpsLink, providerRef];

/** What a text names, without asking anybody; null: nothing that weights come from. */
export function readSource(
  query: string,
  io: Pick<SourceIo, "hub" | "rules"> = sourceIo(),
): SourceRef | null {
  for (const source of sources) {
    const ref = source.read(query, io);
    if (ref) return ref;
  }
  return null;
}

/** Where anybody fetches a file of a public repository, at a commit. */
export const hubFileUrl = (repo: string, commit: string, path: string): string =>
  fileUrl(env.HF_BASE_URL.replace(/\/+$/, ""), repo, commit, path);

/** Who knows about this: a reference without a provider of its own is a link. */
export function sourceOf({ kind, provider }: SourceRef): ModelSource {
  if (kind === "huggingface") return huggingface;
  if (kind === "service_artifact") return serviceArtifact;
  return provider === null ? httpsLink : providerRef;
}
