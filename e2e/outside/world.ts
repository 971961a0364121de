import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tap } from "./tap";

/** The installation under test. */
export type World = {
  /** The product's own URL, and the URL for clients, which is the tap in front of it. */
  productUrl: string;
  baseUrl: string;
  apiKey: string;
  dataDir: string;
  /** The URL of the doubles of servers; each has its name as path. */
  serversUrl: string;
  tap: Tap;
  /** The number of executions that reached the sandbox so far. */
  executions(): number;
};

/** One line of the table: a client with an interface, and its named checks. */
export type Row = {
  client: string;
  version: string;
  door: string;
  checks: Record<string, () => Promise<void>>;
  /** Checks that this client does not support, and why. */
  lacks?: Record<string, string>;
};

/** Opens the installation with this data directory. */
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

/** The version of an installed package, for the table. */
export function versionOf(name: string): string {
  const path = join(import.meta.dirname, "node_modules", name, "package.json");
  return JSON.parse(readFileSync(path, "utf8")).version;
}
