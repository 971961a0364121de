import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { freePort } from "../../scripts/launch/system";
import { world } from "../world";

/* These tests start a web process and a worker separately, beside those of the installation. */

const dataDir = process.env.CAPSTAN_E2E_DATA_DIR ?? process.env.CAPSTAN_DATA_DIR ?? ".data";
const { databaseUrl, sandboxUrl } = JSON.parse(readFileSync(join(dataDir, "runtime.json"), "utf8"));
const started: ChildProcess[] = [];
test.afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL"); // stops the processes that the test started
});

function start(args: string[], settings: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, ["scripts/start.mjs", ...args], {
    env: {
      ...process.env,
      CAPSTAN_DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      SANDBOX_URL: sandboxUrl,
      LOG_LEVEL: "warn",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  return child;
}

const statusOf = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers }).then(
    ({ status }) => status,
    () => null,
  );
const ready = (url: string) => expect.poll(() => statusOf(`${url}/readyz`), { timeout: 60_000 }).toBe(200);

test("a worker started alone reports that it can work and what it counts, and stops cleanly on request", async () => {
  const port = await freePort();
  const worker = start(["worker"], { WORKER_PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  await ready(url);
  const answer = await fetch(`${url}/metrics`);
  expect(await answer.text()).toMatch(/^capstan_jobs_queued \d+$/m);
  expect(await statusOf(`${url}/v1/capabilities`)).toBe(404);
  const ended = once(worker, "exit");
  worker.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await statusOf(`${url}/healthz`)).toBe(null);
});

test("a web process started alone serves the same installation", async () => {
  const port = await freePort();
  const web = start(["web"], { PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  await ready(url);
  expect(await statusOf(`${url}/v1/jobs`, { authorization: `Bearer ${world.apiKey}` })).toBe(200);
  expect(await statusOf(`${url}/sign-in`)).toBe(200);
  const ended = once(web, "exit");
  web.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await statusOf(`${url}/healthz`)).toBe(null);
});

for (const [what, part, settings, code, told] of [
  ["without a database", "web", { DATABASE_URL: "" }, 2, "DATABASE_URL is not set."],
  [
    "of another name",
    "engine",
    {},
    1,
    "Usage: npm run start -- web, worker, sandbox, migrate apply, doctor, backup, restore, or admin",
  ],
  ["with a wrong setting", "worker", { WORKER_PORT: "70000" }, 2, "WORKER_PORT: must be a port"],
] as const)
  test(`a process ${what} does not start, and one sentence says why`, async () => {
    const child = start([part], settings);
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    expect(await once(child, "close")).toEqual([code, null]);
    expect(said).toContain(told);
    expect(said).not.toContain("    at ");
  });

test("migrate and admin run from the build", async () => {
  const output = async (...args: string[]) => {
    const child = start(args, {});
    let said = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    return { code: (await once(child, "close"))[0], said };
  };
  expect(await output("migrate", "apply")).toEqual({ code: 0, said: "Nothing to apply.\n" });
  const { code, said } = await output("admin", "organization", "list", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(said).items.length).toBeGreaterThan(0);
});
