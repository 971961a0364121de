import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { build as bundle } from "esbuild";
import { runToEnd } from "../../scripts/launch/ending";
import { findFile } from "../../scripts/launch/files";

/** Everything that the bench installs (except wrk) or builds for itself is in this folder, which may be deleted at any time. */
export const PEERS = resolve("bench/peers");
export const PORTKEY_VERSION = "1.15.2";

const PORTKEY = join(PEERS, "node_modules/@portkey-ai/gateway");
const EMPTY_APP = join(PEERS, "empty-app");

/** Names a tool that a goal needs beside Node and the product. */
export type Need = keyof typeof NEEDS;
const NEEDS = {
  linux: {
    isThere: () => process.platform === "linux" && findTool("taskset") !== null,
    name: "Linux with taskset (Debian: apt-get install util-linux): processes are pinned to cores, and their CPU time is read from /proc",
  },
  wrk: { isThere: () => findTool("wrk") !== null, name: "wrk (Debian: apt-get install wrk)" },
  pgbench: {
    isThere: () => findPgbench() !== null,
    name: "pgbench (Debian: apt-get install postgresql-contrib)",
  },
  portkey: {
    isThere: () => isPortkeyInstalled(),
    name: `Portkey's gateway ${PORTKEY_VERSION} (npm run bench -- --prepare installs it from npm)`,
  },
  "empty app": {
    isThere: () => isEmptyAppBuilt(),
    name: "an empty application of the Next that is installed (npm run bench -- --prepare builds it)",
  },
};

/** Describes those of these needs that are missing. */
export const missingOf = (needs: readonly Need[]): string[] =>
  needs.filter((need) => !NEEDS[need].isThere()).map((need) => NEEDS[need].name);

/**
 * Installs or builds what it can without a question: wrk as root on Debian, Portkey's gateway from npm, and the empty
 * application.
 */
export async function prepare(needs: readonly Need[]): Promise<void> {
  const isDebian = process.platform === "linux" && process.getuid?.() === 0 && findTool("apt-get") !== null;
  if (needs.includes("wrk") && !findTool("wrk") && isDebian)
    await runToEnd("apt-get", ["install", "-y", "-q", "wrk"]);
  if (needs.includes("portkey") && !isPortkeyInstalled()) await installPortkey();
  if (needs.includes("empty app") && !isEmptyAppBuilt()) await buildEmptyApp();
}

function findTool(name: string): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

const DEBIAN = "/usr/lib/postgresql";

/** Finds the path of pgbench in PATH or in Debian's folders, the newest version first; null if there is none. */
export function findPgbench(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const paths = versions.map((version) => join(DEBIAN, version, "bin/pgbench"));
  return findTool("pgbench") ?? paths.find((path) => existsSync(path)) ?? null;
}

/** The overrides pin the version of hono with which Portkey's gateway also streams. */
const MANIFEST = JSON.stringify(
  {
    private: true,
    dependencies: { "@portkey-ai/gateway": PORTKEY_VERSION },
    overrides: { hono: "4.9.7", "@hono/node-server": "1.13.7" },
  },
  null,
  2,
);

export const isPortkeyInstalled = () =>
  existsSync(PORTKEY) && findFile(join(PEERS, "package.json")) === MANIFEST;

async function installPortkey(): Promise<void> {
  mkdirSync(PEERS, { recursive: true });
  writeFileSync(join(PEERS, "package.json"), MANIFEST);
  const done = await runToEnd("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: PEERS,
  });
  if (done.status !== 0) throw new Error(`npm install failed in ${PEERS}:\n${done.stderr}`);
}

export const portkeyCommand = (port: number) => [
  process.execPath,
  join(PORTKEY, "build/start-server.js"),
  "--headless",
  `--port=${port}`,
];

/** Bundles the bench's own programs, so that they run in plain Node without a loader. */
export async function buildPrograms(): Promise<void> {
  await bundle({
    entryPoints: ["upstream", "bare-proxy", "queue", "meter"].map((name) => `bench/programs/${name}.ts`),
    outdir: join(PEERS, "programs"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
}

export const programCommand = (name: string, ...args: string[]) => [
  process.execPath,
  join(PEERS, "programs", `${name}.mjs`),
  ...args,
];

const ROUTE = `export const dynamic = "force-dynamic";
export function GET() {
  return new Response("{}", { headers: { "content-type": "application/json" } });
}
`;
const CONFIG = `export default { turbopack: { root: ${JSON.stringify(resolve("."))} } };\n`;

const NEXT = resolve("node_modules/next");
const EMPTY_APP_MARK = join(EMPTY_APP, ".built-with");
const nextVersion = () =>
  (JSON.parse(readFileSync(join(NEXT, "package.json"), "utf8")) as { version: string }).version;

const isEmptyAppBuilt = () => findFile(EMPTY_APP_MARK) === nextVersion();

/** Builds a Next application with one empty route handler, with the repository's own Next. */
async function buildEmptyApp(): Promise<void> {
  const files: Record<string, string> = {
    "package.json": JSON.stringify({ private: true, type: "module" }),
    "next.config.mjs": CONFIG,
    "app/empty/route.js": ROUTE,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(EMPTY_APP, name)), { recursive: true });
    writeFileSync(join(EMPTY_APP, name), text);
  }
  const done = await runToEnd(process.execPath, [join(NEXT, "dist/bin/next"), "build"], {
    cwd: EMPTY_APP,
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  });
  if (done.status !== 0) throw new Error(`next build failed in ${EMPTY_APP}:\n${done.stdout}${done.stderr}`);
  writeFileSync(EMPTY_APP_MARK, nextVersion());
}

export const emptyAppCommand = (port: number) => [
  process.execPath,
  join(NEXT, "dist/bin/next"),
  "start",
  "-H",
  "127.0.0.1",
  "-p",
  String(port),
];
export const EMPTY_APP_DIR = EMPTY_APP;
