import { sentencesOf } from "@/components/data/trpc";
import { Notice } from "@/components/ui/notice";

/** The reason why an action was refused, shown beside the action. */
export function Refusal({ error, className }: { error: unknown; className?: string }) {
  if (!error) return null;
  return (
    <Notice tone="bad" role="alert" className={className}>
      {sentencesOf(error)}
    </Notice>
  );
}
