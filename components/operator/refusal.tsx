import { sentencesOf } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";

/** Why an act was not done, where its form is. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  return (
    <Notice tone="bad" role="alert">
      {sentencesOf(error)}
    </Notice>
  );
}
