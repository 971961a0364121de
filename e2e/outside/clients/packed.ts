import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Row, World } from "../world";

/*
 * Our own clients as others install them: packed, then installed without a registry in an empty folder, and used by a
 * program that uses nothing else.
 */

const ROOT = join(import.meta.dirname, "..", "..", "..");
const PROGRAMS = join(import.meta.dirname, "..", "packed");
const { version } = JSON.parse(readFileSync(join(ROOT, "clients/typescript/package.json"), "utf8"));

type Told = { check: string; error: string | null };

export async function rows(world: World): Promise<Row[]> {
  const python = ["python3", "/usr/bin/python3"].find((each) => hasModules(each, "httpx, cryptography"));
  return [
    row("@capstan/client, packed", await inEmptyFolder((folder) => runNode(world, folder))),
    python
      ? row(
          "capstan-client (Python), packed",
          await inEmptyFolder((folder) => runPython(world, folder, python)),
        )
      : {
          ...row("capstan-client (Python), packed", []),
          lacks: {
            run: "no Python has httpx and cryptography (Debian: python3-httpx, python3-cryptography)",
          },
        },
  ];
}

const row = (client: string, told: Told[]): Row => ({
  client,
  version,
  door: "jobs, streams, receipts, webhooks",
  checks: Object.fromEntries(told.map(({ check, error }) => [check, async () => assert.equal(error, null)])),
});

async function inEmptyFolder(work: (folder: string) => Promise<Told[]>): Promise<Told[]> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-packed-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runNode(world: World, folder: string): Promise<Told[]> {
  const client = join(ROOT, "clients/typescript");
  execFileSync("npm", ["pack", "--loglevel=error", "--pack-destination", folder], {
    cwd: client,
    stdio: "pipe",
  });
  const install = [
    "install",
    "--offline",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    packedIn(folder, ".tgz"),
  ];
  writeFileSync(join(folder, "package.json"), "{}");
  execFileSync("npm", install, { cwd: folder, stdio: "pipe" });
  return run(world, folder, process.execPath, "program.mjs");
}

async function runPython(world: World, folder: string, python: string): Promise<Told[]> {
  // A copy, because a build leaves files beside its sources.
  const source = join(folder, "source");
  cpSync(join(ROOT, "clients/python"), source, { recursive: true });
  const offline = ["-q", "--no-index", "--disable-pip-version-check"];
  const build = ["-m", "pip", "wheel", ...offline, "--no-deps", "--no-build-isolation", "-w", folder, source];
  execFileSync(python, build, { stdio: "pipe" });
  rmSync(source, { recursive: true });
  // httpx and cryptography come from the machine.
  execFileSync(python, ["-m", "venv", "--system-site-packages", join(folder, "venv")]);
  const own = join(folder, "venv/bin/python");
  const wheel = `${packedIn(folder, ".whl")}[verify]`;
  execFileSync(own, ["-m", "pip", "install", ...offline, wheel], { cwd: folder, stdio: "pipe" });
  const told = await run(world, folder, own, "program.py");
  told.push(...(await guideOf(world, folder, own)));
  return hasModules(own, "mypy") ? [...told, typesOf(folder, own)] : told;
}

/** Runs the complete programs of the guide, unchanged. */
async function guideOf(world: World, folder: string, python: string): Promise<Told[]> {
  const guide = readFileSync(join(ROOT, "docs/guides/use-the-python-client.md"), "utf8");
  const programs = [...guide.matchAll(/```python\n([\s\S]*?)```/g)]
    .map(([, text]) => text ?? "")
    .filter((text) => text.includes("CAPSTAN_BASE_URL"));
  assert.equal(programs.length, 2);
  const told = programs.map(async (text, place) => {
    const error = await start(world, folder, python, ["-c", text]).then(
      () => null,
      (cause) => String(cause),
    );
    return { check: `program ${place + 1} of the guide`, error };
  });
  return Promise.all(told);
}

/** Checks the program and the installed package's types with mypy, if the machine has it. */
function typesOf(folder: string, python: string): Told {
  const args = ["-m", "mypy", "--strict", "program.py"];
  const { status, stdout } = spawnSync(python, args, { cwd: folder, encoding: "utf8" });
  return { check: "the program is typed by the package", error: status === 0 ? null : stdout };
}

const packedIn = (folder: string, ending: string) => {
  const name = readdirSync(folder).find((each) => each.endsWith(ending));
  assert.ok(name, `nothing was packed as ${ending}`);
  return `./${name}`;
};

const hasModules = (python: string, modules: string) =>
  spawnSync(python, ["-c", `import ${modules}`]).status === 0;

async function run(world: World, folder: string, runtime: string, program: string): Promise<Told[]> {
  cpSync(join(PROGRAMS, program), join(folder, program));
  const { stdout } = await start(world, folder, runtime, [program]);
  const told: Told[] = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  assert.ok(told.length > 0, `${program} printed nothing`);
  return told;
}

const start = (world: World, folder: string, runtime: string, args: string[]) =>
  promisify(execFile)(runtime, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, CAPSTAN_BASE_URL: world.baseUrl, CAPSTAN_API_KEY: world.apiKey },
    timeout: 110_000,
  });
