/** A mistake as somebody could make it, and the test file that has to notice. */
export type Fault = {
  name: string;
  file: string;
  /** Occurs in the file exactly once, and of all migrations last in this one: a later one would put it right again. */
  find: string;
  replace: string;
  caughtBy: string;
};

/** The first migration, where most of the guards are. */
export const MIGRATION = "prisma/migrations/0001_init/migration.sql";
