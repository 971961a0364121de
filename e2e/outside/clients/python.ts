import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Row, World } from "../world";

/*
 * OpenAI's Python client if pip can reach it; otherwise its recorded requests, sent again by Debian's python3-httpx.
 * CAPSTAN_OUTSIDE_RECORD=1 records them.
 */

const FOLDER = join(import.meta.dirname, "..", "python");
const VENV = join(import.meta.dirname, "..", ".venv");
const RECORDED = join(FOLDER, "recorded.json");
const REQUIREMENTS = readFileSync(join(FOLDER, "requirements.txt"), "utf8");
const VERSION = /^openai==(\S+)/m.exec(REQUIREMENTS)?.[1] ?? "";
/** Headers that the client itself sets; the others belong to the connection. */
const HEADERS = /^(accept|content-type|user-agent|x-stainless-.*)$/;

type Told = { check: string; error: string | null };

export async function rows(world: World): Promise<Row[]> {
  const row = (client: string, told: Told[]): Row => ({
    client,
    version: VERSION,
    door: "chat, responses",
    checks: Object.fromEntries(
      told.map(({ check, error }) => [check, async () => assert.equal(error, null)]),
    ),
  });
  const python = install();
  if (python) {
    const mark = world.tap.mark();
    const told = await run(world, python, "program.py");
    if (process.env.CAPSTAN_OUTSIDE_RECORD) record(world, mark);
    return [row("openai (Python)", told)];
  }
  if (hasHttpx())
    return [row("openai (Python), replayed by httpx", await run(world, "/usr/bin/python3", "replay.py"))];
  const why = "neither pip reaches openai nor is python3-httpx installed";
  return [{ ...row("openai (Python)", []), lacks: { run: why } }];
}

/** A Python with the client installed, in a folder of ours; null if pip cannot install it. */
function install(): string | null {
  const python = join(VENV, "bin", "python");
  const mark = join(VENV, "installed.txt");
  if (existsSync(mark) && readFileSync(mark, "utf8") === REQUIREMENTS) return python;
  try {
    execFileSync("python3", ["-m", "venv", "--clear", VENV], { stdio: "ignore" });
    const wanted = [
      "--require-hashes",
      "--no-deps",
      "--retries",
      "1",
      "-r",
      join(FOLDER, "requirements.txt"),
    ];
    execFileSync(python, ["-m", "pip", "install", "-q", ...wanted], { stdio: "ignore", timeout: 180_000 });
    writeFileSync(mark, REQUIREMENTS);
    return python;
  } catch {
    return null;
  }
}

const hasHttpx = () => spawnSync("/usr/bin/python3", ["-c", "import httpx"]).status === 0;

async function run(world: World, python: string, program: string): Promise<Told[]> {
  const { stdout } = await promisify(execFile)(python, [join(FOLDER, program)], {
    env: { PATH: process.env.PATH, CAPSTAN_BASE_URL: world.baseUrl, CAPSTAN_API_KEY: world.apiKey },
    timeout: 100_000,
  });
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Saves the requests since the mark, without the key. */
function record(world: World, mark: number) {
  const requests = world.tap.since(mark).map(({ method, path, headers, body, status }) => ({
    check: `${method} ${path.replace("/v1/", "")}`,
    method,
    path,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => HEADERS.test(name))),
    body,
    status,
  }));
  writeFileSync(RECORDED, `${JSON.stringify(requests, null, 2)}\n`);
}
