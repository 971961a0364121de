import { openPinnedHolds, refuseReservation, reservationOfPin, reserving } from "@/server/domain/budgets";
import { writtenTogether } from "@/server/platform/batch";
import { keepConnection, relaxedPool } from "@/server/platform/db";
import { column, int4, type Of, text, timestamptz } from "@/server/sql/column";
import { batch } from "@/server/sql/statement";
import { ofItem } from "../transitions";

const RESERVE = {
  pinnedId: text,
  fence: int4,
  holdId: text,
  enforcement: column<"off" | "warn" | "prevent" | null>("text", true),
  now: timestamptz,
};
const reserveAll = batch("pin-reserve", {
  input: RESERVE,
  row: { id: text },
  sql: `WITH input AS $input, mine AS MATERIALIZED (
  SELECT pinned.*, input."holdId", input.enforcement, input.now,
    array_remove(ARRAY[capstan_pinned_plan(pinned)->>'credentialId'], NULL) AS credential_ids
  FROM input JOIN pinned_execution pinned ON pinned.id = input."pinnedId"
  WHERE pinned.fence = input.fence AND pinned.status = 'running' ORDER BY pinned.id FOR NO KEY UPDATE OF pinned
), due AS MATERIALIZED (
  -- One whose turn came before has its hold already.
  SELECT * FROM mine WHERE maximum_micros > 0 AND NOT EXISTS (SELECT FROM pinned_hold held WHERE held.execution_id = mine.id)
), reserved AS MATERIALIZED (
  ${reserving(reservationOfPin({ created_at: "now" }), "due")}
), held AS (
  ${openPinnedHolds("due", { id: '"holdId"', created_at: "now" })}
)
SELECT id FROM mine`,
});

/**
 * Reserves the maximum cost of an item at its turn. False if the item is not, or no longer, ours. Throws
 * BudgetExceeded if a budget has no room. Items of all bulks share statements; if one is refused, each is
 * requested alone. The statement does not wait for the disk, because the submission that follows does.
 */
export const reserveItem = writtenTogether<Of<typeof RESERVE>>(ofItem, async (items) => {
  const reserved = keepConnection((db) => reserveAll.all(db, items), relaxedPool);
  return reserved.catch(refuseReservation);
});
