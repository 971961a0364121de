import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { sourceFiles } from "./imports";
import { openReach } from "./reach";

/** The tests that a changed file reaches beyond those that load it. */
type Reach = {
  /** The change needs the whole run. */
  everything?: true;
  /** Matches the paths of test files. */
  tests?: RegExp;
  specs?: RegExp;
  /** Adds what a change of this file would reach. */
  as?: string;
};

const EVERY_DATABASE_TEST = /\.(db|isolated)\.test\.ts$/;

/**
 * Lists what no import shows, row by row; all rows that match count. A changed file that neither a row nor the import graph knows
 * runs everything.
 */
const UNSEEN: [files: RegExp, reach: Reach][] = [
  // These tests read the sources and documents themselves.
  [
    /\.(tsx?|md|css)$/,
    { tests: /^server\/laws\/(laws|imports|zones|routers|panel-reads)(\.db)?\.test\.ts$/ },
  ],
  [/\.md$/, { tests: /^scripts\/docs\.db\.test\.ts$/ }],
  [/^(README\.md|docs\/start\/)/, { specs: /^e2e\/api\/docs/ }],
  [
    /^(package(-lock)?\.json|tsconfig\.json|vitest\.config\.ts|next\.config\.js|postcss\.config\.mjs|playwright\.config\.ts|prisma\.config\.ts)$/,
    { everything: true },
  ],
  [/^testing\/setup\//, { everything: true }],
  [/^prisma\/(schema|guards|migrations)\//, { tests: EVERY_DATABASE_TEST }],
  [
    /^scripts\/(launch\/|prepare\.mjs|build\.mjs|start\.mjs|up\.mjs|down\.mjs)/,
    { tests: /^scripts\//, specs: /^e2e\/api\/start/ },
  ],
  [/^server\/(web|worker)\.ts$/, { specs: /^e2e\/api\// }],
  // The processes of a restored installation use these, and tests in scripts/backup start such processes.
  [/^server\/domain\/restores\//, { tests: /^scripts\/backup\// }],
  [/^scripts\/(migrate\/.*|migrate)\.ts$/, { tests: EVERY_DATABASE_TEST }],
  [/^testing\/upgrades\/0\.2\.0\//, { tests: /^testing\/upgrades\// }],
  [/^e2e\/.*\.spec\.ts$/, {}],
  // `npm run test:outside` runs these; `npm test` only reads their lock file and guides.
  [/^e2e\/outside\//, { tests: /^scripts\/(lock-file|guides)\.test\.ts$/ }],
  [/^e2e\/(?!outside\/)[\w/-]+(?<!\.spec)\.ts$/, { specs: /./ }],
  [/^docs\/openapi\.json$/, { tests: /^(clients\/|server\/api\/openapi)/ }],
  [/^docs\/(?!openapi)|^[A-Z]+\.md$/, { tests: /^server\/providers\/pinned-apis\.test\.ts$/ }],
  [/^\.env\.example$/, { tests: /^(server\/platform\/settings\/env|scripts\/docs\.db)\.test\.ts$/ }],
  [
    /^(Dockerfile|\.dockerignore|compose\.yaml)$|^deploy\/|^\.github\/|^renovate\.json$/,
    { tests: /^scripts\/(manifests|release)\.test\.ts$/ },
  ],
  [/^biome\.json$|^LICENSE$|^NOTICE$|^\.gitignore$|^\.npmrc$|^\.ci\//, {}],
  // The product finds the programs of its threads by name while it runs.
  [
    /^server\/(compute\/(documents|expression|imaging|json-schema|rendering)\/|platform\/threads\/thread-serve\.ts$)/,
    { as: "server/platform/threads/thread-program.ts" },
  ],
  // Tests that speak to the product over HTTP import nothing of what they test.
  [/^(server\/providers|testing\/upstreams)\//, { tests: /^testing\/upstreams\// }],
  [/^server\/domain\/jobs\/admission\//, { tests: /^server\/operations\/key-environments\./ }],
  [/^server\/domain\/quotes\//, { tests: /^server\/api\/openai\/opaque\./ }],
  [/^server\/contract\/webhooks\.ts$/, { tests: /^server\/operations\/webhook-secrets\./ }],
  [/^server\/providers\/.*\.(fixtures|json)/, { tests: /^server\/(providers|domain\/(pins|attempts))\// }],
  [
    /^server\/(compute\/(audio|rendering|expression)|domain\/catalog)\/.*\.(?!tsx?$)\w+$/,
    { tests: /^server\/(compute\/(audio|rendering|expression)|domain\/catalog|capabilities)\// },
  ],
  [/^public\//, { tests: /^server\/auth\//, specs: /^e2e\/panel\/(embed|panels)/ }],
  [/^clients\//, { tests: /^clients\// }],
  [/^bench\//, { tests: /^bench\// }],
];

const PARTS = "server/operations/statuses/parts.fixture.ts";
/**
 * These files gather every operation and every procedure. A test that loads all of them to use one would be reached by a change
 * of any, so a change is not followed beyond them: it reaches the status tests of its operations, the tests of its own folder,
 * and whatever else imports it.
 */
const ROOTS = new Set(["server/operations/index.ts", "server/trpc/index.ts", PARTS]);

/**
 * Tests load these files only to prepare their world, so a change of the product is not followed beyond them. Programs that tests
 * start are no such files, as they run the product itself, nor are those that the halves of one test share.
 */
const PREPARING = /^testing\/(?!setup\/|\w+-process)|\.fixture\.ts$/;
const HALVES =
  /\/(adapter-vendors|attack|cli|connections|json-schema|mcp|payment-fuzz|payments|server|webhooks)\.fixture\.ts$/;
const isPreparing = (file: string) => PREPARING.test(file) && !HALVES.test(file);

/** These tests go through all operations; they are left to `npm test` unless they change themselves. */
const SWEEPS = /^server\/(operations\/(tenant-matrix|blindness|fuzz|envelope-fuzz|tenants\/)|laws\/canary)/;

/** Finds the status tests (`statuses/<part>.db.test.ts`) of these modules of operations. */
function statusesOf(modules: string[]): string[] {
  const text = readFileSync(PARTS, "utf8");
  const ids = modules.flatMap((file) => {
    const name = file.replace(/^.*\/|\.ts$/g, "");
    const id = new RegExp(`import \\* as (\\w+) from "\\.\\./${name}"`).exec(text)?.[1];
    if (!id) return [];
    const taken = new RegExp(`^const \\{([^}]*)\\} = ${id};$`, "m").exec(text)?.[1] ?? id;
    return taken.match(/\w+/g) ?? [];
  });
  const rows = [...text.matchAll(/^ {2}(\w+): endpointsOf\((.*)\),$/gm)];
  return rows
    .filter(([, , named = ""]) => ids.some((id) => new RegExp(`\\b${id}\\b`).test(named)))
    .map(([, part]) => `server/operations/statuses/${part}.db.test.ts`);
}

/** Finds the tests that a change of one file reaches, as the imports show it. */
function testsOf(file: string, usersOf: ReturnType<typeof openReach>["usersOf"]): string[] {
  const isEnd = (user: string) => ROOTS.has(user) || (isPreparing(user) && !isPreparing(file));
  const near = [...usersOf(file, isEnd)];
  const modules = near.filter((user) => /^server\/operations\/[\w-]+\.ts$/.test(user) && !ROOTS.has(user));
  const own = `${dirname(file)}/`;
  const beside = [...usersOf(file)].filter((user) => user.startsWith(own));
  return [...near, ...beside, ...statusesOf(modules)].filter(
    (user) => /\.test\.tsx?$/.test(user) && (user === file || !SWEEPS.test(user)),
  );
}

export type Reached = {
  changed: string[];
  everything: boolean;
  tests: string[];
  specs: string[];
  /** Says in one line what is reached, or why everything is. */
  why: string;
};

/** Finds the tests that changes since a revision can reach; uncommitted changes and new files count. */
export function reachedByChanges(revision: string): Reached {
  const git = (...args: string[]) =>
    execFileSync("git", args, { encoding: "utf8" })
      .split("\n")
      .filter((line) => line !== "");
  const changed = [
    ...git("diff", "--name-only", "--relative", revision),
    ...git("ls-files", "--others", "--exclude-standard"),
  ];
  return reachedBy(changed);
}

let reach: ReturnType<typeof openReach> | undefined;

/** Finds the tests that a change of these files can reach. */
export function reachedBy(changed: string[]): Reached {
  const rows = changed.map((file) => UNSEEN.filter(([files]) => files.test(file)).map(([, reach]) => reach));
  const sources = new Set(sourceFiles("."));
  const isSeen = (file: string) => sources.has(file) || /\.tsx?$/.test(file);
  const unknown = changed.find((file, place) => rows[place]!.length === 0 && !isSeen(file));
  const reaches = rows.flat();
  const whole = unknown ?? changed.find((_, place) => rows[place]!.some((reach) => reach.everything));
  if (whole)
    return { changed, everything: true, tests: [], specs: [], why: `${whole} can reach everything.` };
  const all = [...sources];
  const starts = new Set([...changed, ...reaches.flatMap((reach) => reach.as ?? [])]);
  reach ??= openReach(".");
  const { usersOf } = reach;
  const users = new Set([...starts].flatMap((file) => testsOf(file, usersOf)));
  const tests = all.filter(
    (file) =>
      /\.test\.tsx?$/.test(file) && (users.has(file) || reaches.some((each) => each.tests?.test(file))),
  );
  const specs = all.filter(
    (file) =>
      file.endsWith(".spec.ts") && (starts.has(file) || reaches.some((each) => each.specs?.test(file))),
  );
  const why = `${tests.length} test files and ${specs.length} browser specs can be reached.`;
  return { changed: changed.filter((file) => existsSync(file)), everything: false, tests, specs, why };
}
