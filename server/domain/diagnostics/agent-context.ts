import type { AgentContext, AgentContextProfile } from "@/server/contract/diagnostics";
import { ownKeys } from "@/server/contract/own-keys";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { plainJson } from "@/server/platform/text/json";
import { type AgentSection, SECTIONS } from "./agent-sections";

type Profile = (typeof AgentContextProfile.options)[number];

/** The sections of the smaller profiles; full has all of them. */
const PROFILES: Record<Exclude<Profile, "full">, readonly AgentSection[]> = {
  compact: [
    "product",
    "profiles",
    "agentOperating",
    "authentication",
    "capabilityDiscovery",
    "featuredCapabilities",
    "invocation",
    "asyncJobs",
    "missingCapabilities",
    "credentialSafety",
  ],
  integration: [
    "product",
    "profiles",
    "agentOperating",
    "authentication",
    "configuration",
    "capabilityDiscovery",
    "capabilities",
    "invocation",
    "asyncJobs",
    "pinnedExecution",
    "provenance",
    "pricing",
    "missingCapabilities",
    "credentialSafety",
    "security",
    "mcp",
    "openaiCompatibleIngress",
    "sdk",
    "verification",
  ],
};

const made = new Map<Profile, AgentContext>();

/**
 * Everything that an agent needs before its first call. It is public and depends only on this build's code
 * and settings, so it stays the same until the next start; its hash shows changes.
 */
export function agentContext(profile: Profile): AgentContext {
  const known = made.get(profile);
  if (known) return known;
  const names = profile === "full" ? ownKeys(SECTIONS) : PROFILES[profile];
  const sections = Object.fromEntries(names.map((name) => [name, SECTIONS[name]()]));
  const document = { version: "service-public-1" as const, profile, ...sections };
  const fresh = { ...document, contentHash: sha256Hex(canonicalText(plainJson(document))) };
  made.set(profile, fresh);
  return fresh;
}
