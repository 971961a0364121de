import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The last commit of version 0.2.0. */
export const OLD_COMMIT = "cdbb1074d5782dec73e354d0b8bded6d9150a6c9";

const FOLDER = join(import.meta.dirname, "0.2.0");
export const ROWS = join(FOLDER, "rows.gz");
export const STATEMENTS = join(FOLDER, "statements.gz");

/** A request that 0.2.0 answered, to be repeated: `id` is the value of `idField` in its response. */
export type Replay = {
  /** A description, such as `a pin, its key in the header`. */
  name: string;
  environment: string;
  target: string;
  key: string;
  /** Each character stands for one byte on the wire. */
  headers: Record<string, string>;
  body: unknown;
  idField: string;
  id: string;
};

/** Facts about the rows that tests need; `0.2.0/world.ts` wrote them. */
export type Known = {
  organizationId: string;
  projectId: string;
  otherOrganizationId: string;
  otherProjectId: string;
  otherKey: string;
  keys: Record<
    "development" | "production" | "unbound" | "lasting" | "expired" | "rotatedFrom" | "rotatedTo",
    string
  >;
  ownerId: string;
  /** The id of one object of each kind or state: `running`, `waiting`, `pruned`, `bulkUnderWay`, `weak`, `alias`, … */
  ids: Record<string, string>;
  replays: Replay[];
};

export const readKnown = (): Known => JSON.parse(readFileSync(join(FOLDER, "known.json"), "utf8")); // the form in which world.ts wrote it
