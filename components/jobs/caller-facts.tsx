import { Badge } from "@/components/ui/badge";
import { JsonView } from "@/components/ui/json-view";

/** The caller's tags. */
export function Tags({ tags }: { tags: string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {tags.map((tag) => (
        <Badge key={tag}>
          <span className="truncate">{tag}</span>
        </Badge>
      ))}
    </span>
  );
}

/** The caller's metadata, below a card's facts; renders nothing if there is none. */
export function Metadata({ metadata }: { metadata: Record<string, unknown> }) {
  if (Object.keys(metadata).length === 0) return null;
  return (
    <div className="mt-3">
      <p className="mb-1.5 text-xs text-muted">Metadata</p>
      <JsonView value={metadata} what="metadata" className="max-h-56" />
    </div>
  );
}
