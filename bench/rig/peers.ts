import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build as bundle } from "esbuild";

/** Everything the bench needs and the product does not lives here; the folder may be deleted at any time. */
export const PEERS = resolve("bench/peers");
export const PORTKEY_VERSION = "1.15.2";

const PORTKEY = join(PEERS, "node_modules/@portkey-ai/gateway");
const EMPTY_APP = join(PEERS, "empty-app");

/** What stands between this machine and a measurement; empty when nothing does. */
export function missingTools(): string[] {
  if (process.platform !== "linux")
    return ["The bench runs on Linux: it pins processes to cores and reads their CPU time from /proc."];
  const missing: string[] = [];
  if (!findTool("taskset")) missing.push("taskset (Debian: apt-get install util-linux)");
  if (!findTool("wrk")) missing.push("wrk (Debian: apt-get install wrk)");
  if (!findPgbench()) missing.push("pgbench (Debian: apt-get install postgresql-contrib)");
  return missing;
}

/** Installs wrk where that is possible without a question: as root on a Debian. */
export function installWrk(): void {
  if (process.platform !== "linux" || findTool("wrk") || process.getuid?.() !== 0 || !findTool("apt-get"))
    return;
  spawnSync("apt-get", ["install", "-y", "-q", "wrk"], { stdio: "ignore" });
}

function findTool(name: string): string | null {
  const found = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
  return found.status === 0 ? found.stdout.trim() : null;
}

/** Where pgbench is, from PATH or from Debian's folders. */
export function findPgbench(): string | null {
  const listed = spawnSync(
    "sh",
    ["-c", "ls -1d /usr/lib/postgresql/*/bin/pgbench 2>/dev/null | sort -V | tail -1"],
    {
      encoding: "utf8",
    },
  );
  return findTool("pgbench") ?? (listed.stdout.trim() || null);
}

/** Installs the peers from npm, once. hono is the version with which Portkey's gateway also streams. */
export function installPeers(): void {
  const manifest = JSON.stringify(
    {
      private: true,
      dependencies: { "@portkey-ai/gateway": PORTKEY_VERSION },
      overrides: { hono: "4.9.7", "@hono/node-server": "1.13.7" },
    },
    null,
    2,
  );
  const file = join(PEERS, "package.json");
  if (existsSync(PORTKEY) && existsSync(file) && readFileSync(file, "utf8") === manifest) return;
  mkdirSync(PEERS, { recursive: true });
  writeFileSync(file, manifest);
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: PEERS,
    stdio: "ignore",
  });
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
    entryPoints: ["upstream", "bare-proxy", "queue", "probe"].map((name) => `bench/programs/${name}.ts`),
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

/** Builds a Next application of one empty route handler with our own Next, once per version of it. */
export function buildEmptyApp(): void {
  const { version } = JSON.parse(readFileSync("node_modules/next/package.json", "utf8")) as {
    version: string;
  };
  const mark = join(EMPTY_APP, ".built-with");
  if (existsSync(mark) && readFileSync(mark, "utf8") === version) return;
  const files: Record<string, string> = {
    "package.json": JSON.stringify({ private: true, type: "module" }),
    "next.config.mjs": CONFIG,
    "app/empty/route.js": ROUTE,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(EMPTY_APP, name)), { recursive: true });
    writeFileSync(join(EMPTY_APP, name), text);
  }
  execFileSync(process.execPath, [resolve("node_modules/next/dist/bin/next"), "build"], {
    cwd: EMPTY_APP,
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  writeFileSync(mark, version);
}

export const emptyAppCommand = (port: number) => [
  process.execPath,
  resolve("node_modules/next/dist/bin/next"),
  "start",
  "-H",
  "127.0.0.1",
  "-p",
  String(port),
];
export const EMPTY_APP_DIR = EMPTY_APP;
