import { ITEM_FILL, type ItemStatus, itemStatusLabel } from "@/components/pins/pin-status";
import { cn } from "@/components/ui/class-names";
import type { PinnedBulk } from "@/server/contract/pinned";

/** The order of the segments: from finished to queued. */
export const ITEM_ORDER: readonly ItemStatus[] = [
  "succeeded",
  "failed",
  "ambiguous",
  "canceled",
  "running",
  "queued",
];
const ENDED: readonly ItemStatus[] = ["succeeded", "failed", "ambiguous", "canceled"];

type Counted = Pick<PinnedBulk, "counts" | "itemCount">;

/** The number of finished items, whatever their outcome. */
export const endedOf = ({ counts }: Pick<Counted, "counts">) =>
  ENDED.reduce((sum, status) => sum + counts[status], 0);

/** The progress of a bulk as one bar with a segment per status; the counts next to it name the segments. */
export function BulkBar({ bulk, className }: { bulk: Counted; className?: string }) {
  const ended = endedOf(bulk);
  return (
    <div
      role="progressbar"
      aria-label="Finished items"
      aria-valuemin={0}
      aria-valuemax={bulk.itemCount}
      aria-valuenow={ended}
      aria-valuetext={`${ended.toLocaleString("en-US")} of ${bulk.itemCount.toLocaleString("en-US")}`}
      className={cn("flex h-3 gap-px overflow-hidden rounded-full bg-line", className)}
    >
      {ITEM_ORDER.filter((status) => bulk.counts[status] > 0).map((status) => (
        <span
          key={status}
          className={cn("transition-[flex-grow] duration-500", ITEM_FILL[status])}
          // The minimum width keeps one item of ten thousand visible.
          style={{ flexGrow: bulk.counts[status], minWidth: 3 }}
        />
      ))}
    </div>
  );
}

/** The legend of the bar: a count per status. */
export function BulkCounts({ bulk }: { bulk: Counted }) {
  return (
    <ul aria-label="Items by status" className="flex flex-wrap gap-x-5 gap-y-1.5 text-sm">
      {ITEM_ORDER.filter((status) => status !== "canceled" || bulk.counts.canceled > 0).map((status) => (
        <li key={status} className="flex items-center gap-1.5" data-count={status}>
          <span
            aria-hidden
            className={cn(
              "size-2.5 rounded-sm",
              ITEM_FILL[status],
              status === "queued" && "ring-1 ring-line-strong ring-inset",
            )}
          />
          <span className="font-medium tabular-nums">{bulk.counts[status].toLocaleString("en-US")}</span>
          <span className="text-muted">{itemStatusLabel(status).toLowerCase()}</span>
        </li>
      ))}
    </ul>
  );
}
