import { CircleAlert, CircleCheck, CircleHelp, TriangleAlert } from "lucide-react";
import { type Look, LookBadge } from "@/components/blocks/status/status";
import { Badge } from "@/components/ui/badge";
import type { ModelAdapter } from "@/server/contract/adapters";

type Health = ModelAdapter["sourceHealth"]["status"];

export const HEALTH_LOOK: Record<Health, Look & { meaning: string }> = {
  healthy: {
    label: "Healthy",
    tone: "good",
    icon: CircleCheck,
    meaning: "The weights were unchanged at the last check.",
  },
  degraded: {
    label: "Degraded",
    tone: "warn",
    icon: TriangleAlert,
    meaning: "The source responds, but not everyone can read these weights.",
  },
  missing: {
    label: "Missing",
    tone: "bad",
    icon: CircleAlert,
    meaning: "The weights are no longer at the source. Requests can't use this adapter.",
  },
  unknown: {
    label: "Unknown",
    tone: "neutral",
    icon: CircleHelp,
    meaning: "The weights could not be checked, or have not been checked yet.",
  },
};

/** Shows whether the weights are still available. */
export function HealthBadge({ health }: { health: ModelAdapter["sourceHealth"] }) {
  const look = HEALTH_LOOK[health.status];
  return <LookBadge look={look} title={health.detail ?? look.meaning} />;
}

export const CATALOG_ONLY =
  "The file at the source can change, so this adapter is for reference only and requests can't use it.";

/** Marks an adapter that requests cannot use. */
export function FrozenBadge({ frozen }: { frozen: boolean }) {
  if (frozen) return null;
  return (
    <Badge tone="warn" title={CATALOG_ONLY}>
      <TriangleAlert aria-hidden />
      Catalog only
    </Badge>
  );
}

const LICENSE_STATUS: Record<ModelAdapter["licenseStatus"], string> = {
  unknown: "not stated",
  declared: "declared",
  verified: "verified",
};

/** The license and its status. */
export function licenseWords({
  licenseName,
  licenseStatus,
}: Pick<ModelAdapter, "licenseName" | "licenseStatus">): string {
  if (!licenseName) return "License unknown";
  return `${licenseName} (${LICENSE_STATUS[licenseStatus]})`;
}

export const SOURCE_KIND: Record<ModelAdapter["source"]["kind"], string> = {
  huggingface: "Hugging Face Hub",
  service_artifact: "Uploaded file",
  provider_ref: "Provider or link",
};

/** The source of the weights in a few words. */
export function sourceWords({ kind, ref, provider }: ModelAdapter["source"]): string {
  if (kind === "service_artifact") return "Uploaded file";
  return provider ? `${provider}: ${ref}` : ref;
}

export type Family = { name: string; title: string };

/** The display name of a base model family. */
export function familyWords(name: string | null, families: readonly Family[]): string {
  if (!name) return "Base model unknown";
  return families.find((family) => family.name === name)?.title ?? name;
}
