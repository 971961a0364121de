import { pinnedHold } from "@/server/generated/schema";
import { names, omit, pick, text } from "@/server/sql/column";
import { composite } from "@/server/sql/composite";
import { ALLOWANCE_MICROS, TRIAL_CEILING_MICROS } from "./reserve";

/*
 * The only list of the columns of a hold. A pinned execution has its hold in `pinned_hold`, a job in its
 * own row, and the view `hold` unites both. Tests compare the types and the view in `prisma/guards` with
 * this list.
 */

/** The columns that decide which budgets count a hold. */
const COUNTED = pick(
  pinnedHold,
  "organization_id",
  "project_id",
  "principal_id",
  "person_id",
  "billing_mode",
  "credential_ids",
  "is_test",
);

export const RESERVATION = composite("reservation", {
  ...pick(pinnedHold, "execution_id"),
  ...COUNTED,
  ...pick(pinnedHold, "amount_micros"),
  /** Enforcement that the request itself names. */
  enforcement: text,
  ...pick(pinnedHold, "created_at"),
});

export const RESOLUTION = composite("resolution", {
  ...COUNTED,
  ...pick(pinnedHold, "funding", "created_at", "amount_micros", "state", "settled_micros"),
});

type Elsewhere = { [N in keyof typeof pinnedHold]?: string };

/** Columns of a hold whose name or expression differs in the row of its job. */
const inJob = (job: string): Elsewhere => ({
  id: `capstan_hold_id(${job}.id)`,
  execution_id: `${job}.id`,
  person_id: `${job}.submitted_by`,
  is_test: `${job}.provider = 'sandbox'`,
  funding: `${job}.hold_funding`,
  amount_micros: `${job}.maximum_micros`,
  state: `${job}.hold_state`,
  settled_micros: `${job}.hold_settled_micros`,
  resolved_at: `${job}.hold_resolved_at`,
  resolved_by: `${job}.hold_resolved_by`,
  note: `${job}.hold_note`,
  resolution: `${job}.hold_resolution`,
});

/** Selects columns of a hold from the row of its job, under the names of the hold. */
function fromJob(columns: object, job: string): string {
  const elsewhere: Record<string, string | undefined> = inJob(job);
  return Object.keys(columns)
    .map((name) => (elsewhere[name] ? `${elsewhere[name]} AS ${name}` : `${job}.${name}`))
    .join(", ");
}

/** Statement that creates the view. */
export const HOLD_VIEW = `CREATE VIEW "hold" WITH (security_invoker = true) AS
SELECT ${fromJob(pinnedHold, "j")}
FROM job j WHERE j.hold_state IS NOT NULL
UNION ALL
SELECT ${names(pinnedHold, "p")}
FROM pinned_hold p;`;

/**
 * Columns of a hold that `resolved` reads, from a job and from a pinned execution. The state is null for a
 * job without a hold.
 */
export const RESOLUTION_COLUMNS = {
  job: fromJob(RESOLUTION.members, "job"),
  pinned: names(RESOLUTION.members),
};

/** Columns that jobs and pinned executions name alike, but a reservation does not. */
const ADMITTED = { execution_id: "id", person_id: "submitted_by", amount_micros: "maximum_micros" };
const PINNED = { ...ADMITTED, billing_mode: "'byok'" };

export const RESERVATION_OF_JOB = RESERVATION.row({ ...ADMITTED, enforcement: "budget_enforcement" });
export const reservationOfPin = (elsewhere: { enforcement?: string; created_at?: string }) =>
  RESERVATION.row({ ...PINNED, ...elsewhere });

/**
 * Returns an SQL query that reserves the money of these executions; its columns are those of
 * `capstan_reserve`.
 */
export const reserving = (reservation: string, from: string) => `SELECT * FROM capstan_reserve(ARRAY(
    SELECT ${reservation}
    FROM ${from}), ${ALLOWANCE_MICROS}, ${TRIAL_CEILING_MICROS})`;

const OPENED = omit(pinnedHold, "settled_micros", "resolved_at", "resolved_by", "note", "resolution");

/**
 * Returns SQL that inserts the holds of the pinned executions that are in the common table `from` and in
 * `reserved`.
 */
export function openPinnedHolds(from: string, elsewhere: { id: string; created_at?: string }): string {
  const given: Elsewhere = { ...PINNED, funding: "reserved.funding", state: "'open'", ...elsewhere };
  const values: Record<string, string | undefined> = given;
  const sources = Object.keys(OPENED).map((name) => values[name] ?? name);
  return `INSERT INTO pinned_hold (${names(OPENED)})
  SELECT ${sources.join(", ")}
  FROM ${from} JOIN reserved ON reserved.execution_id = ${from}.id`;
}

/**
 * Returns an SQL expression that updates budgets and wallet for the ended hold rows of this common table.
 */
export const resolved = (holds: string, moment: string) => `(
  SELECT capstan_resolve(ARRAY(SELECT ${RESOLUTION.row()} FROM ${holds}), ${moment}))`;
