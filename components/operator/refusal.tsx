import { sentencesOf } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";

/** Why an action was refused, shown in its form. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  return (
    <Notice tone="bad" role="alert">
      {sentencesOf(error)}
    </Notice>
  );
}
