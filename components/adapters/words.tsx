import { CircleAlert, CircleCheck, CircleHelp, type LucideIcon, TriangleAlert } from "lucide-react";
import { Ago } from "@/components/time/moment";
import { Badge, type Tone } from "@/components/ui/badge";
import type { ModelAdapter } from "@/server/contract/adapters";

type Health = ModelAdapter["sourceHealth"]["status"];

export const HEALTH_LOOK: Record<Health, { label: string; tone: Tone; icon: LucideIcon; meaning: string }> = {
  healthy: {
    label: "Healthy",
    tone: "good",
    icon: CircleCheck,
    meaning: "The weights were there, unchanged, when they were looked for.",
  },
  degraded: {
    label: "Degraded",
    tone: "warn",
    icon: TriangleAlert,
    meaning: "The source answers, but not with these weights for everybody.",
  },
  missing: {
    label: "Missing",
    tone: "bad",
    icon: CircleAlert,
    meaning: "The weights are not there any more. No request can use the adapter.",
  },
  unknown: {
    label: "Unknown",
    tone: "neutral",
    icon: CircleHelp,
    meaning: "Nobody could look, or nobody has yet.",
  },
};

/** Whether the weights are still there. */
export function HealthBadge({ health }: { health: ModelAdapter["sourceHealth"] }) {
  const { label, tone, icon: Icon, meaning } = HEALTH_LOOK[health.status];
  return (
    <Badge tone={tone} title={health.detail ?? meaning}>
      <Icon aria-hidden />
      {label}
    </Badge>
  );
}

/** When somebody looked last. */
export function CheckedAt({ health: { checkedAt } }: { health: ModelAdapter["sourceHealth"] }) {
  if (!checkedAt) return <>Never checked</>;
  return (
    <>
      Checked <Ago at={checkedAt} />
    </>
  );
}

export const CATALOG_ONLY =
  "Its source names no file that is certain to stay the same, so it is kept for reference and no request can use it.";

/** Can requests use it? Said only where they cannot. */
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
  declared: "as declared",
  verified: "verified",
};

/** The licence, and how sure that is. */
export function licenseWords({
  licenseName,
  licenseStatus,
}: Pick<ModelAdapter, "licenseName" | "licenseStatus">): string {
  if (!licenseName) return "Licence unknown";
  return `${licenseName} (${LICENSE_STATUS[licenseStatus]})`;
}

export const SOURCE_KIND: Record<ModelAdapter["source"]["kind"], string> = {
  huggingface: "Hugging Face Hub",
  service_artifact: "Uploaded file",
  provider_ref: "Provider or link",
};

/** Where the weights come from, in a few words. */
export function sourceWords({ kind, ref, provider }: ModelAdapter["source"]): string {
  if (kind === "service_artifact") return "Uploaded file";
  return provider ? `${provider}: ${ref}` : ref;
}

export type Family = { name: string; title: string };

/** A family as people call it. */
export function familyWords(name: string | null, families: readonly Family[]): string {
  if (!name) return "Base model unknown";
  return families.find((family) => family.name === name)?.title ?? name;
}
