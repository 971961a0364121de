/*
 * When work whose lease has ended may be taken over. Whoever holds it and lives renews it, also after the database was out or
 * a lock held everything up: the sweeper ends nothing that its owner is about to renew.
 */

/** A pass of a sweeper, by the database's clock. */
export type Pass = {
  startedAt: Date;
  /** It, or one less than a lease before it, began much too late. */
  isLate: boolean;
};

/** A pass that has taken so long is held up with everything else, and takes nothing over. */
const HELD_UP_MS = 5_000;

/** Until when, by the database's clock, a pass may take over what is abandoned: a late one not at all. */
export function reapsUntil(pass: Pass | undefined): Date {
  if (!pass) return NO_END;
  return pass.isLate ? pass.startedAt : new Date(pass.startedAt.getTime() + HELD_UP_MS);
}

/** Of a pass that no one times. JavaScript and PostgreSQL both write this day with four digits. */
const NO_END = new Date("9999-12-31T00:00:00Z");
