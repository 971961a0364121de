import { toFailure } from "@/components/data/trpc";
import { Notice } from "@/components/ui/notice";

const WHY: Record<string, string> = {
  source_not_found: "No public source has this name",
  source_no_access: "The source is not public: its owner decides who can read it",
  source_unusable: "The source has no usable weights",
  source_refused: "Links to this host are not supported",
  ProviderUnavailable: "The source is not responding",
};

/** The reason why a source could not be used. */
export function SourceRefusal({ error }: { error: unknown }) {
  const { message, code, issues } = toFailure(error);
  const title = WHY[issues[0]?.type ?? code ?? ""];
  return (
    <Notice tone="bad" role="alert" title={title ?? "Lookup failed"}>
      {issues.length > 0 ? issues.map(({ msg }) => msg).join(" ") : message}
    </Notice>
  );
}
