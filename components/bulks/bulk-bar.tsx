import { ITEM_LOOK, type ItemStatus } from "@/components/pins/pin-status";
import { cn } from "@/components/ui/class-names";
import type { PinnedBulk } from "@/server/contract/pinned";

/** From what is done to what is to come. */
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

/** Items that have ended, whatever they came to. */
export const endedOf = ({ counts }: Pick<Counted, "counts">) =>
  ENDED.reduce((sum, status) => sum + counts[status], 0);

/** How far a bulk is, every status a part of one bar. Which part is which is said by the counts beside it. */
export function BulkBar({ bulk, className }: { bulk: Counted; className?: string }) {
  const ended = endedOf(bulk);
  return (
    <div
      role="progressbar"
      aria-label="Items that have ended"
      aria-valuemin={0}
      aria-valuemax={bulk.itemCount}
      aria-valuenow={ended}
      aria-valuetext={`${ended.toLocaleString("en-US")} of ${bulk.itemCount.toLocaleString("en-US")}`}
      className={cn("flex h-3 gap-px overflow-hidden rounded-full bg-line", className)}
    >
      {ITEM_ORDER.map((status) => (
        <span
          key={status}
          className={cn("transition-[flex-grow] duration-500", ITEM_LOOK[status].fill)}
          // What is one of ten thousand is still seen.
          style={{ flexGrow: bulk.counts[status], minWidth: bulk.counts[status] > 0 ? 3 : 0 }}
        />
      ))}
    </div>
  );
}

/** The parts of the bar by their names. */
export function BulkCounts({ bulk }: { bulk: Counted }) {
  return (
    <ul aria-label="Items by status" className="flex flex-wrap gap-x-5 gap-y-1.5 text-sm">
      {ITEM_ORDER.filter((status) => status !== "canceled" || bulk.counts.canceled > 0).map((status) => (
        <li key={status} className="flex items-center gap-1.5" data-count={status}>
          <span
            aria-hidden
            className={cn(
              "size-2.5 rounded-sm",
              ITEM_LOOK[status].fill,
              status === "queued" && "ring-1 ring-line-strong ring-inset",
            )}
          />
          <span className="font-medium tabular-nums">{bulk.counts[status].toLocaleString("en-US")}</span>
          <span className="text-muted">{ITEM_LOOK[status].label.toLowerCase()}</span>
        </li>
      ))}
    </ul>
  );
}
