import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { build as bundle } from "esbuild";
import { findFile, writeWhole } from "./files";
import { fingerprint } from "./fingerprint";

/** The sources of a build: it is stale once one of them has changed. */
const SOURCES = [
  "app",
  "components",
  "inngest",
  "public",
  "prisma/schema",
  "prisma/bootstrap.ts",
  "prisma/seed.ts",
  ...["admin", "backup", "launch", "migrate"].map((name) => `scripts/${name}`),
  ...["admin", "backup", "doctor", "find-database", "migrate", "restore"].map((name) => `scripts/${name}.ts`),
  "server",
  "instrumentation.ts",
  "next.config.js",
  "postcss.config.mjs",
  "package.json",
  "package-lock.json",
];
/** The processes, and other programs that run on their own. */
export const PROGRAMS: Record<string, string> = {
  web: "server/web.ts",
  worker: "server/worker.ts",
  sandbox: "server/sandbox/main.ts",
  seed: "prisma/seed.ts",
  "expression-worker": "server/compute/expression/worker.ts",
  "imaging-worker": "server/compute/imaging/worker.ts",
  "json-schema-worker": "server/compute/json-schema/worker.ts",
  "documents-worker": "server/compute/documents/worker.ts",
  "rendering-worker": "server/compute/rendering/worker.ts",
  lifeline: "scripts/launch/lifeline.ts",
  start: "scripts/launch/start.ts",
  admin: "scripts/admin.ts",
  doctor: "scripts/doctor.ts",
  backup: "scripts/backup.ts",
  restore: "scripts/restore.ts",
  migrate: "scripts/migrate.ts",
};
const CHUNKS = "dist/chunks";
const MARK = "dist/.built-from";
const BUILD_LOG = "dist/next-build.log";

/** True if this checkout has the program's source. */
export function hasProgram(name: string): boolean {
  return existsSync(PROGRAMS[name] ?? "");
}

/** The source file of a program, for running it unbuilt. */
export function programSource(name: string): string {
  const source = PROGRAMS[name];
  if (!source) throw new Error(`Unknown program ${name}.`);
  return source;
}

/** True if there is a build of exactly these sources. */
export function isBuilt(): boolean {
  return findFile(MARK) === currentSources();
}

function currentSources(): string {
  return fingerprint(SOURCES, process.version, process.platform, process.arch);
}

/**
 * Name of a build, which is part of its addresses: the commit, with a hash of the sources if they differ from the commit. Without
 * a repository (in an image's build) the hash alone. So two machines that build one commit serve the same addresses.
 */
export function buildId(): string {
  const hash = fingerprint(SOURCES).slice(0, 12);
  const commit = git("rev-parse", "--short=12", "HEAD");
  if (!commit) return hash;
  return git("status", "--porcelain", "--", ...SOURCES) === "" ? commit : `${commit}-${hash}`;
}

/** The output of git; undefined without git or a repository. */
function git(...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** Builds the pages with Next and bundles the programs into dist. Throws with the builders' own messages. */
export async function build(): Promise<void> {
  const sources = currentSources();
  rmSync(MARK, { force: true });
  const written = await bundlePrograms(Object.keys(PROGRAMS));
  for (const name of readdirSync(CHUNKS)) if (!written.has(resolve(CHUNKS, name))) rmSync(join(CHUNKS, name));
  await buildPages();
  writeWhole(MARK, sources, 0o644);
}

/** Bundles some of the programs into dist/<name>.mjs; packages stay in node_modules. Returns the written paths. */
export async function bundlePrograms(names: string[]): Promise<Set<string>> {
  const entries = names.filter(hasProgram).map((name) => [name, programSource(name)]);
  const { outputFiles } = await bundle({
    entryPoints: Object.fromEntries(entries),
    outdir: "dist",
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    sourcemap: true,
    write: false,
    logLevel: "error",
  });
  for (const { path, text } of outputFiles) writeWhole(path, text, 0o644);
  return new Set(outputFiles.map(({ path }) => path));
}

function buildPages(): Promise<void> {
  const child = spawn(process.execPath, ["node_modules/next/dist/bin/next", "build"], {
    env: {
      ...process.env,
      NODE_ENV: "production",
      NEXT_TELEMETRY_DISABLED: "1",
      CAPSTAN_BUILD_ID: buildId(),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve();
      const said = stripVTControlCharacters(Buffer.concat(output).toString("utf8"));
      writeWhole(BUILD_LOG, said, 0o644);
      reject(
        new Error(`next build failed (full log: ${BUILD_LOG}):\n${said.split("\n").slice(0, 60).join("\n")}`),
      );
    });
  });
}
