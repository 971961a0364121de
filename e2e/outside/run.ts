import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openTap, type Seen } from "./tap";
import { openWorld, type Row, type World } from "./world";

/*
 * Runs every client, other people's and our own, against the installation that CAPSTAN_BASE_URL and CAPSTAN_DATA_DIR name,
 * and against the doubles of servers at CAPSTAN_OUTSIDE_SERVERS; `npm run test:outside` starts both. Arguments that are
 * names run only those clients, `--part ci` runs a few, and `--check` runs only the checks of one name. The totals are
 * written into the file CAPSTAN_OUTSIDE_REPORT, if it is set.
 */

/** The clients by file name; those of `--part ci` first. */
const CLIENTS = {
  openai: () => import("./clients/openai"),
  "ai-sdk": () => import("./clients/ai-sdk"),
  mcp: () => import("./clients/mcp"),
  packed: () => import("./clients/packed"),
  python: () => import("./clients/python"),
  langchain: () => import("./clients/langchain"),
  langgraph: () => import("./clients/langgraph"),
  llamaindex: () => import("./clients/llamaindex"),
  "openai-agents": () => import("./clients/openai-agents"),
  "servers-ai-sdk": () => import("./clients/servers-ai-sdk"),
  "servers-langchain": () => import("./clients/servers-langchain"),
  "servers-openai-agents": () => import("./clients/servers-openai-agents"),
  webhooks: () => import("./clients/webhooks"),
  sse: () => import("./clients/sse"),
  guides: () => import("./clients/guides"),
  openapi: () => import("./clients/openapi"),
} satisfies Record<string, () => Promise<{ rows(world: World): Row[] | Promise<Row[]> }>>;
const CI = ["openai", "ai-sdk", "mcp", "packed"];

const CHECK_MS = 120_000;

const { CAPSTAN_BASE_URL, CAPSTAN_DATA_DIR, CAPSTAN_OUTSIDE_SERVERS, CAPSTAN_OUTSIDE_REPORT } = process.env;
if (!CAPSTAN_BASE_URL || !CAPSTAN_DATA_DIR || !CAPSTAN_OUTSIDE_SERVERS)
  throw new Error(
    "CAPSTAN_BASE_URL, CAPSTAN_DATA_DIR and CAPSTAN_OUTSIDE_SERVERS name the installation and the doubles. Use: npm run test:outside",
  );

const { values, positionals } = parseArgs({
  options: { part: { type: "string" }, check: { type: "string" } },
  allowPositionals: true,
});
const named = values.part === "ci" ? CI : positionals;
const unknown = named.find((name) => !(name in CLIENTS)) ?? (values.part === "ci" ? undefined : values.part);
if (unknown)
  throw new Error(`There is no ${unknown}. There are --part ci, and ${Object.keys(CLIENTS).join(", ")}.`);

// Some frameworks leave a promise unhandled when a request fails; the check sees the failure as a user would.
process.on("unhandledRejection", () => {});

const tap = await openTap(CAPSTAN_BASE_URL);
const world = openWorld({
  productUrl: CAPSTAN_BASE_URL,
  dataDir: CAPSTAN_DATA_DIR,
  serversUrl: CAPSTAN_OUTSIDE_SERVERS,
  tap,
});
const done: { row: Row; failures: { check: string; error: unknown }[] }[] = [];
for (const [name, load] of Object.entries(CLIENTS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  const { rows } = await load();
  for (const row of await rows(world)) {
    const failures = [];
    if (values.check) row.checks = pick(row.checks, values.check);
    for (const [check, work] of Object.entries(row.checks)) {
      const mark = tap.mark();
      const error = await within(work).catch((cause: unknown) => cause ?? new Error("failed"));
      if (error === undefined) continue;
      failures.push({ check, error });
      console.log(`FAILED ${row.client}, ${row.door}, ${check}: ${told(error)}\n${asked(tap.since(mark))}`);
    }
    done.push({ row, failures });
    console.log(
      `${row.client}, ${row.door}: ${failures.length === 0 ? "holds" : `${failures.length} failed`}`,
    );
  }
}
tap.close();

const passed = done.reduce(
  (sum, { row, failures }) => sum + Object.keys(row.checks).length - failures.length,
  0,
);
const failed = done.reduce((sum, { failures }) => sum + failures.length, 0);
print();
if (CAPSTAN_OUTSIDE_REPORT)
  writeFileSync(
    CAPSTAN_OUTSIDE_REPORT,
    JSON.stringify({
      passed,
      failed,
      failures: done.flatMap(({ row, failures }) =>
        failures.map(({ check }) => `${row.client} (${row.door}): ${check}`),
      ),
    }),
  );
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function pick<T>(all: Record<string, T>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => key === name));
}

/** Fails a check that hangs. */
async function within(work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${CHECK_MS / 1000} s`)), CHECK_MS);
  });
  await Promise.race([work(), late]).finally(() => clearTimeout(timer));
}

/**
 * The requests of a failed check, and up to 4,000 characters of the last one's body, because the failure is mostly there.
 */
function asked(seen: Seen[]): string {
  const lines = seen.map(({ method, path, status }) => `  ${method} ${path} ${status ?? "(no answer)"}\n`);
  const last = seen.at(-1);
  return `${lines.join("")}${last ? `  ${last.body.slice(0, 4_000)}\n` : ""}`;
}

function told(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.split("\n").slice(0, 12).join("\n");
}

function print() {
  const cells = [
    ["client", "version", "door", "passed", "failed"],
    ...done.map(({ row, failures }) => [
      row.client,
      row.version,
      row.door,
      String(Object.keys(row.checks).length - failures.length),
      String(failures.length),
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
  const lacks = done.flatMap(({ row }) =>
    Object.entries(row.lacks ?? {}).map(
      ([check, why]) => `${row.client} (${row.door}) has no ${check}: ${why}`,
    ),
  );
  console.log(`\n${[...lines, ...lacks].join("\n")}\n\n${passed} passed, ${failed} failed`);
}
