import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where version 0.2.0 ends. */
export const OLD_COMMIT = "cdbb1074d5782dec73e354d0b8bded6d9150a6c9";

const FOLDER = join(import.meta.dirname, "0.2.0");
export const ROWS = join(FOLDER, "rows.gz");
export const STATEMENTS = join(FOLDER, "statements.gz");

/** A request that 0.2.0 answered, to be sent again: `id` is what its answer had in `idField`. */
export type Replay = {
  /** A sentence for people, such as `a pin, its key in the header`. */
  name: string;
  environment: string;
  target: string;
  key: string;
  /** Each character is one byte, as a program sends it. */
  headers: Record<string, string>;
  body: unknown;
  idField: string;
  id: string;
};

/** What a test has to know of the rows; `0.2.0/world.ts` wrote it. */
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
  /** Of one thing of each kind or state: `running`, `waiting`, `pruned`, `bulkUnderWay`, `weak`, `alias`, … */
  ids: Record<string, string>;
  replays: Replay[];
};

export const readKnown = (): Known => JSON.parse(readFileSync(join(FOLDER, "known.json"), "utf8")); // as written
