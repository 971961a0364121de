import { CircleCheck, CircleDashed, CircleX, Equal, Eye, LoaderCircle, Trophy } from "lucide-react";
import { defineStatus, type Look, LookBadge } from "@/components/blocks/status/status";
import type { Comparison, ComparisonLine } from "@/server/contract/comparisons";

type Status = Comparison["status"];
type Intent = Comparison["intent"];
type Decision = NonNullable<ComparisonLine["decision"]>;

export const { StatusBadge: ComparisonStatusBadge, options: COMPARISON_STATUS_OPTIONS } =
  defineStatus<Status>({
    running: { label: "Running", icon: LoaderCircle, tone: "busy", isSpinning: true },
    completed: { label: "Completed", icon: CircleCheck, tone: "good" },
    partial: { label: "Partly failed", icon: CircleDashed, tone: "warn" },
    failed: { label: "Failed", icon: CircleX, tone: "bad" },
  });

export const INTENT_WORDS: Record<Intent, { name: string; hint: string }> = {
  exploratory: { name: "Exploratory", hint: "For exploration." },
  production_decision: { name: "Production decision", hint: "The winner will be used in production." },
  golden_regression: { name: "Golden regression", hint: "Checks against a known good result." },
};

const DECISIONS: Record<Decision | "due", Look> = {
  winner: { label: "Winner", icon: Trophy, tone: "good" },
  tie: { label: "Tie", icon: Equal },
  none: { label: "None good enough", icon: CircleX },
  due: { label: "Awaiting judgement", icon: Eye, tone: "warn" },
};

/** The decision, or that one is due; renders nothing while the comparison runs. */
export function DecisionBadge({ line }: { line: Pick<ComparisonLine, "decision" | "status"> }) {
  if (line.decision === null && line.status === "running") return null;
  return <LookBadge look={DECISIONS[line.decision ?? "due"]} />;
}
