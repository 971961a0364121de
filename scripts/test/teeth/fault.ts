/** A mistake that a developer could make, and the test file that has to notice it. */
export type Fault = {
  name: string;
  file: string;
  /** Occurs in the file exactly once, and in no later migration, which would undo the fault. */
  find: string;
  replace: string;
  caughtBy: string;
};

/** The first migration, where most of the guards are. */
export const MIGRATION = "prisma/migrations/0001_init/migration.sql";
