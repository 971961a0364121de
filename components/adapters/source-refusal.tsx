import { toFailure } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";

const WHY: Record<string, string> = {
  source_not_found: "There is nothing of this name that everybody can read",
  source_no_access: "It is closed: its owner decides who may read it",
  source_unusable: "It holds no weights that can be used",
  source_refused: "Links to this place are not read",
  ProviderUnavailable: "The source does not answer now",
};

/** Why a source gave nothing, told plainly. */
export function SourceRefusal({ error }: { error: unknown }) {
  const { message, code, issues } = toFailure(error);
  const title = WHY[issues[0]?.type ?? code ?? ""];
  return (
    <Notice tone="bad" role="alert" title={title ?? "This could not be looked up"}>
      {issues.length > 0 ? issues.map(({ msg }) => msg).join(" ") : message}
    </Notice>
  );
}
