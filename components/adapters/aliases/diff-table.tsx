import { ArrowRight } from "lucide-react";
import { Badge } from "@/components/ui/badge";
import { cn } from "@/components/ui/class-names";
import { type AliasDiffLine, diffOf, type WeightedAdapter } from "./diff";

/** The differences between two targets of an alias, line by line, then the unchanged facts. */
export function DiffTable({ before, after }: { before: WeightedAdapter; after: WeightedAdapter }) {
  const lines = diffOf(before, after);
  const changed = lines.filter(({ isChanged }) => isChanged);
  const same = lines.filter(({ isChanged, before: had }) => !isChanged && had !== null);
  return (
    <div className="space-y-2 text-sm">
      {changed.length === 0 ? (
        <p className="text-muted">No differences.</p>
      ) : (
        <dl aria-label="What changes" className="divide-y divide-line rounded-md border border-line">
          {changed.map((line) => (
            <div key={line.name} className="grid gap-x-3 gap-y-1 px-3 py-2 sm:grid-cols-[7rem_minmax(0,1fr)]">
              <dt className="text-xs leading-5 text-muted">{line.name}</dt>
              <dd className="min-w-0">{line.added ? <Words line={line} /> : <Change line={line} />}</dd>
            </div>
          ))}
        </dl>
      )}
      {changed.length > 0 && same.length > 0 && (
        <p className="text-xs text-muted">Unchanged: {same.map(({ name }) => name).join(", ")}.</p>
      )}
    </div>
  );
}

function Change({ line }: { line: AliasDiffLine }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <del className={cn("min-w-0 text-muted [overflow-wrap:anywhere]", isLong(line.before) && "text-xs")}>
        {line.before ?? "none"}
      </del>
      <span className="flex min-w-0 items-center gap-x-2">
        <ArrowRight aria-label="becomes" className="size-3.5 shrink-0 text-muted" />
        <ins
          className={cn(
            "min-w-0 font-medium no-underline [overflow-wrap:anywhere]",
            isLong(line.after) && "text-xs",
          )}
        >
          {line.after ?? "none"}
        </ins>
      </span>
    </span>
  );
}

const isLong = (text: string | null) => text !== null && text.length > 30;

function Words({ line: { added = [], removed = [] } }: { line: AliasDiffLine }) {
  return (
    <span className="flex flex-wrap gap-1">
      {removed.map((word) => (
        <Badge key={`-${word}`} tone="bad">
          <span className="sr-only">removed </span>
          <del className="truncate">{word}</del>
        </Badge>
      ))}
      {added.map((word) => (
        <Badge key={`+${word}`} tone="good">
          <span className="sr-only">added </span>
          <ins className="truncate no-underline">+ {word}</ins>
        </Badge>
      ))}
    </span>
  );
}
