/*
 * Rules for taking over work whose lease has ended. A live owner renews its lease even after a database
 * outage or a long lock, so the sweeper must not end work that its owner is about to renew.
 */

/** A pass of a sweeper, timed by the database's clock. */
export type Pass = {
  startedAt: Date;
  /** True if this pass, or an earlier one within the length of a lease, began much too late. */
  isLate: boolean;
};

/** A pass that has taken this long is held up with everything else, and takes nothing over. */
const HELD_UP_MS = 5_000;

/**
 * The moment, on the database's clock, until which a pass may take over abandoned work. A late pass takes
 * over none.
 */
export function reapsUntil(pass: Pass | undefined): Date {
  if (!pass) return NO_END;
  return pass.isLate ? pass.startedAt : new Date(pass.startedAt.getTime() + HELD_UP_MS);
}

/**
 * The limit of a pass that is not timed. JavaScript and PostgreSQL both write this day with a four-digit
 * year.
 */
const NO_END = new Date("9999-12-31T00:00:00Z");
