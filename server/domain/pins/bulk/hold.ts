import { ALLOWANCE_MICROS, refuseReservation, TRIAL_CEILING_MICROS } from "@/server/domain/budgets";
import { writtenTogether } from "@/server/platform/batch";
import { queryKeeping, relaxedPool } from "@/server/platform/db";
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
  SELECT * FROM capstan_reserve(ARRAY(
    SELECT ROW(id, organization_id, project_id, principal_id, submitted_by, 'byok', credential_ids, is_test,
      maximum_micros, enforcement, now)::reservation
    FROM due), ${ALLOWANCE_MICROS}, ${TRIAL_CEILING_MICROS})
), held AS (
  INSERT INTO pinned_hold (id, organization_id, project_id, execution_id, principal_id, person_id, billing_mode, credential_ids,
    is_test, funding, amount_micros, state, created_at)
  SELECT "holdId", organization_id, project_id, due.id, principal_id, submitted_by, 'byok', credential_ids, is_test, reserved.funding,
    maximum_micros, 'open', now
  FROM due JOIN reserved ON reserved.execution_id = due.id
)
SELECT id FROM mine`,
});

/**
 * Sets aside what an item may cost, at its turn. False: it is not ours (any more). Throws BudgetExceeded where there is no
 * room. Items of all bulks share statements; where one is refused, each is requested alone. Does not wait for the disk:
 * what comes after it, the beginning of the submission, does.
 */
export const reserveItem = writtenTogether<Of<typeof RESERVE>>(ofItem, async (items) => {
  const asked = queryKeeping<{ id: string }>(reserveAll.query(items), relaxedPool);
  return (await asked.catch(refuseReservation)).rows;
});
