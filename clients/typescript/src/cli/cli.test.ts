import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256Hex } from "@/server/canonical";
import { EXIT_CODES } from "@/server/contract/cli";
import { closeDatabase, pool } from "@/server/db";
import { startServer, type WebServer } from "@/server/web/server";
import { finish, makeKey, makeTenant, type Tenant } from "@/testing/api";

/* The command as a process of its own, against a running server. */

const folder = mkdtempSync(join(tmpdir(), "capstan-cli-"));
const program = join(folder, "capstan.mjs");
const FAST = "text.general.fast.v1";
const question = JSON.stringify({ messages: [{ role: "user", content: "How deep are the rivers?" }] });
let tenant: Tenant;
let server: WebServer;

beforeAll(async () => {
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  await build({
    entryPoints: ["clients/typescript/src/cli/main.ts"],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    // commander is of the older kind of modules, which ask for others by `require`.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "silent",
  });
});
afterAll(async () => {
  await server.stop(1_000);
  await closeDatabase();
  rmSync(folder, { recursive: true });
});

type Done = { code: number | null; out: string; error: string };
type How = {
  env?: Record<string, string>;
  stdin?: string;
  onError?: (text: string) => void;
  onOut?: (text: string) => void;
};

function capstan(args: string[], { env, stdin = "", onError, onOut }: How = {}): Promise<Done> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: {
        NODE_ENV: "test",
        PATH: process.env.PATH ?? "",
        XDG_CONFIG_HOME: folder,
        CAPSTAN_BASE_URL: server.url,
        CAPSTAN_API_KEY: tenant.key,
        ...env,
      },
    });
    let [out, error] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      onOut?.(out);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      error += text;
      onError?.(error);
    });
    child.stdin.end(stdin);
    child.on("close", (code) => done({ code, out, error }));
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
type Body = any;

/** The answer of a command that succeeds: JSON alone, and nothing on standard error. */
async function answer(args: string[], how: How = {}): Promise<Body> {
  const { code, out, error } = await capstan([...args, "--json"], how);
  expect(error).toBe("");
  expect(code, out).toBe(0);
  return JSON.parse(out);
}

/** What a command refuses with, as JSON. */
async function refused(code: number, args: string[], how: How = {}): Promise<Body> {
  const done = await capstan([...args, "--json"], how);
  expect(done.code, done.out).toBe(code);
  expect(`${done.out}${done.error}`).not.toContain(tenant.key.slice(8));
  return JSON.parse(done.out).error;
}

test("what there is: a list, what fits an intent, a description; without a key too", async () => {
  const env = { CAPSTAN_API_KEY: "" };
  const { capabilities } = await answer(["capabilities", "list"], { env });
  expect(capabilities.map(({ key }: Body) => key)).toContain(FAST);
  const { matches } = await answer(["capabilities", "find", "draw", "a", "picture"], { env });
  expect(matches[0].capabilityKey).toBe("image.generate.v1");
  expect((await answer(["capabilities", "describe", FAST], { env })).execution.mode).toBe("invoke");
  const { out } = await capstan(["capabilities", "find", "what is 2 + 2 exactly"], { env });
  expect(out).toContain("capstan run compute.evaluate.v1 --input '{");
  expect((await refused(EXIT_CODES.usage, ["capabilities", "describe", "text.nothing"], { env })).code).toBe(
    "UNKNOWN_CAPABILITY",
  );
});

test("run: input as JSON, from a file and from standard input; text for people, JSON for programs", async () => {
  writeFileSync(join(folder, "sum.json"), '{"expression": "2 + 2"}');
  for (const [given, stdin] of [
    ['{"expression": "2 + 2"}', ""],
    ["sum.json", ""],
    ["-", '{"expression": "2 + 2"}'],
  ] as const) {
    const done = await answer(["run", "compute.evaluate.v1", "--input", given], { stdin });
    expect(JSON.stringify(done.output)).toContain("4");
    expect(done).toMatchObject({ status: "succeeded", receiptId: expect.stringMatching(/^rcpt_/) });
  }
  const { out, code } = await capstan(["run", FAST, "--input", question, "--max-cost-usd", "0.5"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^In a few words, .*rivers/);
  for (const args of [
    ["--input", "{broken"],
    ["--input", "gone.json"],
    ["--input", question, "--max-cost-usd", "0"],
    [],
  ])
    expect((await refused(EXIT_CODES.usage, ["run", FAST, ...args])).code).toBe("Usage");
  expect((await refused(EXIT_CODES.usage, ["run", "compute.evaluate.v1", "--input", "{}"])).status).toBe(422);
});

describe("a job", () => {
  const draw = ["run", "image.generate.v1", "--input", '{"prompt": "A lighthouse"}'];
  let jobId: string;

  test("is submitted, followed to its end, and its artifacts are saved under their seal", async () => {
    ({ jobId } = await answer(draw));
    let isAsked = false;
    const onOut = () => {
      if (!isAsked) void finish(jobId);
      isAsked = true;
    };
    const { code, out } = await capstan(["jobs", "events", jobId, "--follow", "--json"], { onOut });
    expect(code).toBe(0);
    const followed = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const { events } = await answer(["jobs", "events", jobId]);
    expect(followed.map(({ id }) => id)).toEqual(events.map(({ id }: Body) => id));
    expect(await answer(["jobs", "get", jobId])).toMatchObject({ jobId, status: "succeeded" });
    expect((await answer(["jobs", "result", jobId])).typedOutput).toBeTruthy();
    const { artifacts, files } = await answer(["jobs", "artifacts", jobId, "--out", "pictures"]);
    expect(files).toHaveLength(artifacts.length);
    expect(sha256Hex(readFileSync(join(folder, files[0].path)))).toBe(artifacts[0].sha256);
    expect(readdirSync(join(folder, "pictures")).some((name) => name.endsWith(".part"))).toBe(false);
    const { items } = await answer([
      "jobs",
      "list",
      "--status",
      "succeeded",
      "--capability",
      "image.generate.v1",
    ]);
    expect(items.map((each: Body) => each.jobId)).toContain(jobId);
  });

  test("has a receipt that verifies, until a byte of it is changed", async () => {
    const { out } = await capstan(["receipts", "get", jobId]);
    writeFileSync(join(folder, "receipt.json"), out);
    const good = await capstan(["verify", "receipt.json"]);
    expect(good).toMatchObject({ code: 0, error: "" });
    expect(good.out).toContain("is what was sealed");
    writeFileSync(join(folder, "changed.json"), out.replace("image.generate", "image.generated"));
    const changed = await capstan(["verify", "changed.json", "--json"]);
    expect(changed.code).toBe(1);
    expect(JSON.parse(changed.out).verified).toBe(false);
    expect((await capstan(["verify", "gone.json"])).code).toBe(2);
    expect((await answer(["receipts", "get", JSON.parse(out).receiptId])).jobId).toBe(jobId);
  });

  test("can be canceled; one that waits for a person or longer than asked has a number of its own", async () => {
    const { jobId: other } = await answer(draw);
    expect((await answer(["jobs", "cancel", other])).status).toMatch(/^cancel/);
    const left = await refused(EXIT_CODES.waitTimeout, [...draw, "--wait", "--timeout", "0.01"]);
    await finish(left.executionId);
    await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [tenant.projectId]);
    const waits = await refused(EXIT_CODES.humanGate, [...draw, "--wait"]);
    await pool.query("UPDATE project SET approval_threshold_micros = NULL WHERE id = $1", [tenant.projectId]);
    expect(waits.details.approvalUrl).toContain(waits.executionId);
    const model = ["--model", "sandbox-refuse"];
    expect((await refused(EXIT_CODES.failed, ["run", FAST, "--input", question, ...model])).code).toBe(
      "ProviderRejected",
    );
  });
});

test("who, and what is missing: each problem has its number and a next step", async () => {
  expect(await answer(["whoami"])).toMatchObject({ projectId: tenant.projectId, context: { identity: {} } });
  const well = await answer(["doctor", FAST]);
  expect(well.ready).toBe(true);
  expect(well.checks.map(({ name }: Body) => name)).toEqual(
    expect.arrayContaining(["healthz", "readyz", "session", "clock", "provider", "funding", "capability"]),
  );
  const keyless = await capstan(["doctor", "--json"], { env: { CAPSTAN_API_KEY: "" } });
  expect(keyless.code).toBe(EXIT_CODES.failed);
  expect(JSON.parse(keyless.out).checks.at(-1)).toMatchObject({
    name: "session",
    next: expect.stringContaining("login"),
  });
  const nobody = { env: { CAPSTAN_BASE_URL: "http://127.0.0.1:1" } };
  expect((await capstan(["doctor"], nobody)).code).toBe(EXIT_CODES.unavailable);
  expect((await refused(EXIT_CODES.usage, ["whoami"], { env: { CAPSTAN_API_KEY: "" } })).message).toContain(
    "login",
  );
  const wrong = await makeKey({ projectId: tenant.projectId, expiresInSeconds: 1, agedMs: 5_000 });
  await refused(EXIT_CODES.unauthorized, ["whoami"], { env: { CAPSTAN_API_KEY: wrong } });
  await refused(EXIT_CODES.usage, ["jobs", "fly"]);
});

test("a key is kept from standard input alone, for its owner alone, and sent to its own service alone", async () => {
  const home = mkdtempSync(join(folder, "home-"));
  const env = { CAPSTAN_API_KEY: "", XDG_CONFIG_HOME: home };
  await refused(EXIT_CODES.usage, ["login", "--api-key", "cap_development_text"], { env });
  await answer(["login", "--api-key", "-"], { env, stdin: `${tenant.key}\n` });
  const file = join(home, "capstan/config.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, "capstan")).mode & 0o777).toBe(0o700);
  expect((await answer(["whoami"], { env: { ...env, CAPSTAN_BASE_URL: "" } })).projectId).toBe(
    tenant.projectId,
  );
  const elsewhere = { ...env, CAPSTAN_BASE_URL: server.url.replace("127.0.0.1", "localhost") };
  expect((await refused(EXIT_CODES.usage, ["whoami"], { env: elsewhere })).message).toContain("no key");
  await answer(["logout"], { env });
  expect(readdirSync(join(home, "capstan"))).toEqual([]);
});

test("the source runs as it lies there", async () => {
  const tsx = spawn(process.execPath, [
    resolve("node_modules/tsx/dist/cli.mjs"),
    "clients/typescript/src/cli/main.ts",
    "--version",
  ]);
  expect(await new Promise((done) => tsx.on("close", done))).toBe(0);
});
