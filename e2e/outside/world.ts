import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tap } from "./tap";

/** The installation under test and what the checks know of it. */
export type World = {
  /** Where the product itself answers, and where a client is pointed at: the tap before it. */
  productUrl: string;
  baseUrl: string;
  apiKey: string;
  dataDir: string;
  /** Address of the doubles of servers, each at its name. */
  serversUrl: string;
  tap: Tap;
  /** How many executions reached the sandbox so far. */
  executions(): number;
};

/** One line of the table: a client at a door, and what has to hold of it by name. */
export type Row = {
  client: string;
  version: string;
  door: string;
  checks: Record<string, () => Promise<void>>;
  /** Checks that this client has no way for, and why. */
  lacks?: Record<string, string>;
};

/** Opens the installation whose data directory this is. */
export function openWorld({
  dataDir,
  tap,
  ...urls
}: Pick<World, "productUrl" | "dataDir" | "serversUrl" | "tap">): World {
  const { apiKey } = JSON.parse(readFileSync(join(dataDir, "bootstrap.json"), "utf8"));
  const log = join(dataDir, "sandbox", "submissions.ndjson");
  return {
    ...urls,
    baseUrl: tap.url,
    apiKey,
    dataDir,
    tap,
    executions() {
      const lines = readFileSync(log, "utf8").split("\n").filter(Boolean);
      return new Set(lines.map((line) => JSON.parse(line).attemptId)).size;
    },
  };
}

/** The version of an installed package, as the table prints it. */
export function versionOf(name: string): string {
  const path = join(import.meta.dirname, "node_modules", name, "package.json");
  return JSON.parse(readFileSync(path, "utf8")).version;
}
