import {
  CircleCheck,
  CircleDashed,
  CircleX,
  Equal,
  Eye,
  LoaderCircle,
  type LucideIcon,
  Trophy,
} from "lucide-react";
import { Badge, type Tone } from "@/components/ui/badge";
import { cn } from "@/components/ui/class-names";
import type { Comparison, ComparisonLine } from "@/server/contract/comparisons";

type Status = Comparison["status"];
type Intent = Comparison["intent"];
type Decision = NonNullable<ComparisonLine["decision"]>;

export const STATUS_LOOK: Record<Status, { label: string; icon: LucideIcon; tone: Tone }> = {
  running: { label: "Running", icon: LoaderCircle, tone: "busy" },
  completed: { label: "Completed", icon: CircleCheck, tone: "good" },
  partial: { label: "Partly failed", icon: CircleDashed, tone: "warn" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
};

export function ComparisonStatusBadge({ status }: { status: Status }) {
  const { label, icon: Icon, tone } = STATUS_LOOK[status];
  return (
    <Badge tone={tone} data-status={status}>
      <Icon aria-hidden className={cn(status === "running" && "animate-spin")} />
      {label}
    </Badge>
  );
}

export const INTENT_WORDS: Record<Intent, { name: string; hint: string }> = {
  exploratory: { name: "Exploratory", hint: "For exploration." },
  production_decision: { name: "Production decision", hint: "The winner will be used in production." },
  golden_regression: { name: "Golden regression", hint: "Checks against a known good result." },
};

const DECISIONS: Record<Decision, { label: string; icon: LucideIcon }> = {
  winner: { label: "Winner", icon: Trophy },
  tie: { label: "Tie", icon: Equal },
  none: { label: "None good enough", icon: CircleX },
};

/** The decision, or whether one is due. */
export function DecisionBadge({ line }: { line: Pick<ComparisonLine, "decision" | "status"> }) {
  if (line.decision === null)
    return line.status === "running" ? null : (
      <Badge tone="busy">
        <Eye aria-hidden />
        Awaiting judgement
      </Badge>
    );
  const { label, icon: Icon } = DECISIONS[line.decision];
  return (
    <Badge tone={line.decision === "winner" ? "good" : "neutral"}>
      <Icon aria-hidden />
      {label}
    </Badge>
  );
}
