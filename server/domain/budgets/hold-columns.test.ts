import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  HOLD_VIEW,
  RESERVATION,
  RESERVATION_OF_JOB,
  RESOLUTION,
  RESOLUTION_COLUMNS,
  resolved,
} from "./hold-columns";

const flat = (text: string) => text.replace(/\s+/g, " ");
const guards = (file: string) =>
  flat(readFileSync(join(import.meta.dirname, "../../../prisma/guards", file), "utf8"));

test("the composite types and the view in the code match the database scripts", () => {
  expect(guards("5-money.sql")).toContain(RESERVATION.create);
  expect(guards("5-money.sql")).toContain(RESOLUTION.create);
  expect(guards("7-executions.sql")).toContain(flat(HOLD_VIEW));
});

test("an admission reserves the job's maximum for its submitter, and an end resolves the hold in the job's row", () => {
  expect(RESERVATION_OF_JOB).toBe(
    "ROW(id, organization_id, project_id, principal_id, submitted_by, billing_mode, credential_ids, is_test, maximum_micros, budget_enforcement, created_at)::reservation",
  );
  expect(RESOLUTION_COLUMNS.job).toBe(
    "job.organization_id, job.project_id, job.principal_id, job.submitted_by AS person_id, job.billing_mode, job.credential_ids, job.provider = 'sandbox' AS is_test, job.hold_funding AS funding, job.created_at, job.maximum_micros AS amount_micros, job.hold_state AS state, job.hold_settled_micros AS settled_micros",
  );
  expect(flat(resolved("ended", "now()"))).toBe(
    "( SELECT capstan_resolve(ARRAY(SELECT ROW(organization_id, project_id, principal_id, person_id, billing_mode, credential_ids, is_test, funding, created_at, amount_micros, state, settled_micros)::resolution FROM ended), now()))",
  );
});

test("the compiler refuses a member that the type does not have", () => {
  // @ts-expect-error
  expect(RESERVATION.row({ settled_micros: "0" })).toBe(RESERVATION.row());
});
