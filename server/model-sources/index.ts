import { networkAllowing } from "@/server/platform/http";
import { env } from "@/server/platform/settings/env";
import type { ModelSource, SourceIo, SourceRef } from "./define";
import { httpsLink } from "./https-link";
import { fileUrl } from "./hub-api";
import { huggingface } from "./huggingface";
import { providerRef } from "./provider-ref";
import { serviceArtifact } from "./service-artifact";

/* Sources of LoRA weights. They know nothing of projects, adapters or callers. */

export * from "./define";

const TIMEOUT_MS = 15_000;

/** Settings with which this installation reaches sources. */
export function sourceIo(signal?: AbortSignal): SourceIo {
  const hosts = env.ADAPTER_SOURCE_HOSTS;
  return {
    hub: { baseUrl: env.HF_BASE_URL, token: env.HF_TOKEN ?? null },
    rules: {
      hosts: [new URL(env.HF_BASE_URL).hostname, ...hosts],
      network: networkAllowing(env.ALLOW_PRIVATE_ADDRESSES),
      timeoutMs: TIMEOUT_MS,
      ...(signal ? { signal } : {}),
    },
  };
}

/** In the order in which a text is offered to them. */
const sources: ModelSource[] = [serviceArtifact, huggingface, httpsLink, providerRef];

/** Finds the source that a text names, without a request; null if it names none. */
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

/** Public address of a file at a commit of a repository. */
export const hubFileUrl = (repo: string, commit: string, path: string): string =>
  fileUrl(env.HF_BASE_URL.replace(/\/+$/, ""), repo, commit, path);

/** Finds the source of a reference. A `provider_ref` without a provider is a link. */
export function sourceOf({ kind, provider }: SourceRef): ModelSource {
  if (kind === "huggingface") return huggingface;
  if (kind === "service_artifact") return serviceArtifact;
  return provider === null ? httpsLink : providerRef;
}
