import { sentencesOf } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";

/** Why an action was refused, shown where it was asked for. */
export function Refusal({ error, className }: { error: unknown; className?: string }) {
  if (!error) return null;
  return (
    <Notice tone="bad" role="alert" className={className}>
      {sentencesOf(error)}
    </Notice>
  );
}
