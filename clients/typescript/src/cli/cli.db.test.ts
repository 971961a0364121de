import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, test as each, expect } from "vitest";
import { EXIT_CODES } from "@/server/contract/cli";
import type { Ctx } from "@/server/domain/ctx";
import { decideDevice } from "@/server/domain/sessions";
import { pool } from "@/server/platform/db";
import { publicUrl } from "@/server/platform/settings/env";
import { sha256Hex } from "@/server/platform/text/canonical";
import { startServer, type WebServer } from "@/server/web/server";
import { finish, makeKey, makeTenant, type Tenant } from "@/testing/api";
import { makePerson } from "@/testing/tenants";

/* The command as a process of its own, against a running server. Most of the time goes into starting processes: beside each other. */

const test = each.concurrent;

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
  rmSync(folder, { recursive: true });
});

type Done = { code: number | null; out: string; error: string };
type How = {
  env?: Record<string, string>;
  stdin?: string;
  cwd?: string;
  onError?: (text: string) => void;
  onOut?: (text: string) => void;
};

const capstan = (args: string[], how: How = {}) => execute(process.execPath, [program, ...args], how);

function execute(command: string, args: string[], how: How): Promise<Done> {
  const { env, stdin = "", cwd = folder, onError, onOut } = how;
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd,
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

test("what there is: a list, what fits an intent, a description; without a key too", {
  tags: "long",
}, async () => {
  const env = { CAPSTAN_API_KEY: "" };
  const [{ capabilities }, { matches }, described, { out }, unknown] = await Promise.all([
    answer(["capabilities", "list"], { env }),
    answer(["capabilities", "find", "draw", "a", "picture"], { env }),
    answer(["capabilities", "describe", FAST], { env }),
    capstan(["capabilities", "find", "what is 2 + 2 exactly"], { env }),
    refused(EXIT_CODES.usage, ["capabilities", "describe", "text.nothing"], { env }),
  ]);
  expect(capabilities.map(({ key }: Body) => key)).toContain(FAST);
  expect(matches[0].capabilityKey).toBe("image.generate.v1");
  expect(described.execution.mode).toBe("job");
  expect(out).toContain("capstan run compute.evaluate.v1 --input '{");
  expect(unknown.code).toBe("UNKNOWN_CAPABILITY");
});

test("the command and the line of the client that a descriptor gives run as they are", {
  tags: "long",
}, async () => {
  const described = await answer(["capabilities", "describe", "compute.evaluate.v1"]);
  const { cli, sdk } = described.nextAction;
  const file = join(folder, "sdk.mjs");
  await build({
    stdin: { contents: sdk.replaceAll(publicUrl, server.url), loader: "ts", resolveDir: resolve(".") },
    alias: { "@capstan/client": resolve("clients/typescript/src/index.ts") },
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  const line = cli.replace(/--base-url \S+$/, `--base-url ${server.url} --json`);
  const [run, code] = await Promise.all([
    execute("sh", ["-c", `capstan() { "$NODE" "$PROGRAM" "$@"; }; ${line}`], {
      env: { NODE: process.execPath, PROGRAM: program },
    }),
    execute(process.execPath, [file], {}),
  ]);
  expect(described.descriptorProjection).toBe("describe");
  expect(run.code, run.out).toBe(0);
  const { status, output } = JSON.parse(run.out);
  expect(status).toBe("succeeded");
  expect(code).toEqual({ code: 0, out: `${inspect(output)}\n`, error: "" });
});

test("the command that resolve hints at runs as it is, with its input in the line and in a file", {
  tags: "long",
}, async () => {
  const env = { CAPSTAN_API_KEY: "" };
  const { matches } = await answer(["capabilities", "find", "what is 2 + 2 exactly"], { env });
  const { cli, inputFile } = matches[0].runHint;
  writeFileSync(join(folder, inputFile.path), JSON.stringify(inputFile.content));
  const shim = `capstan() { "$NODE" "$PROGRAM" "$@"; }`;
  const runs = [cli, inputFile.cli].map((line: string) => {
    const here = line.replace(/--base-url \S+$/, `--base-url ${server.url} --json`);
    return execute("sh", ["-c", `${shim}; ${here}`], { env: { NODE: process.execPath, PROGRAM: program } });
  });
  for (const { code, out } of await Promise.all(runs)) {
    expect(code, out).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: "succeeded", capability: "compute.evaluate.v1" });
  }
});

test("run: input as JSON, from a file and from standard input; text for people, JSON for programs", {
  tags: "long",
}, async () => {
  writeFileSync(join(folder, "sum.json"), '{"expression": "2 + 2"}');
  const inputs = [
    ['{"expression": "2 + 2"}', ""],
    ["sum.json", ""],
    ["-", '{"expression": "2 + 2"}'],
  ] as const;
  const runs = inputs.map(async ([given, stdin]) => {
    const done = await answer(["run", "compute.evaluate.v1", "--input", given], { stdin });
    expect(JSON.stringify(done.output)).toContain("4");
    expect(done).toMatchObject({ status: "succeeded", receiptId: expect.stringMatching(/^rcpt_/) });
  });
  const refusals = [
    ["--input", "{broken"],
    ["--input", "gone.json"],
    ["--input", question, "--max-cost-usd", "0"],
    [],
  ].map(async (args) => expect((await refused(EXIT_CODES.usage, ["run", FAST, ...args])).code).toBe("Usage"));
  const [{ out, code }, invalid] = await Promise.all([
    capstan(["run", FAST, "--input", question, "--max-cost-usd", "0.5"]),
    refused(EXIT_CODES.usage, ["run", "compute.evaluate.v1", "--input", "{}"]),
    ...runs,
    ...refusals,
  ]);
  expect(code).toBe(0);
  expect(out).toMatch(/^In a few words, .*rivers/);
  expect(invalid.status).toBe(422);
});

const draw = ["run", "image.generate.v1", "--input", '{"prompt": "A lighthouse"}'];

test("a job is submitted and followed to its end; its artifacts are saved under their seal, its receipt verifies", {
  tags: "long",
}, async () => {
  const { jobId } = await answer(draw);
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
  const [{ events }, job, read, result, { artifacts, files }, { items }, receipt] = await Promise.all([
    answer(["jobs", "events", jobId]),
    answer(["jobs", "get", jobId]),
    capstan(["jobs", "get", jobId]),
    answer(["jobs", "result", jobId]),
    answer(["jobs", "artifacts", jobId, "--out", "pictures"]),
    answer(["jobs", "list", "--status", "succeeded", "--capability", "image.generate.v1"]),
    capstan(["receipts", "get", jobId]),
  ]);
  expect(followed.map(({ id }) => id)).toEqual(events.map(({ id }: Body) => id));
  expect(job).toMatchObject({ jobId, status: "succeeded" });
  expect(read.out).toContain(`you pay     ${job.charge.chargedMicros / 1_000_000} USD (covered)`);
  expect(result.typedOutput).toBeTruthy();
  expect(files).toHaveLength(artifacts.length);
  expect(sha256Hex(readFileSync(join(folder, files[0].path)))).toBe(artifacts[0].sha256);
  expect(readdirSync(join(folder, "pictures")).some((name) => name.endsWith(".part"))).toBe(false);
  expect(items.map((each: Body) => each.jobId)).toContain(jobId);

  writeFileSync(join(folder, "receipt.json"), receipt.out);
  writeFileSync(join(folder, "changed.json"), receipt.out.replace("image.generate", "image.generated"));
  const [good, changed, gone, again] = await Promise.all([
    capstan(["verify", "receipt.json"]),
    capstan(["verify", "changed.json", "--json"]),
    capstan(["verify", "gone.json"]),
    answer(["receipts", "get", JSON.parse(receipt.out).receiptId]),
  ]);
  expect(good).toMatchObject({ code: 0, error: "" });
  expect(good.out).toContain("is what was sealed");
  expect(changed.code).toBe(1);
  expect(JSON.parse(changed.out).verified).toBe(false);
  expect(gone.code).toBe(2);
  expect(again.jobId).toBe(jobId);
});

test("a job can be canceled; one that waits for a person or longer than asked has a number of its own", {
  tags: "long",
}, async () => {
  const project = tenant.otherProjectId;
  const how = { env: { CAPSTAN_API_KEY: tenant.unboundKey } };
  const other = [...draw, "--project", project];
  const [{ jobId }, left, rejected] = await Promise.all([
    answer(other, how),
    refused(EXIT_CODES.waitTimeout, [...other, "--wait", "--timeout", "0.01"], how),
    refused(EXIT_CODES.failed, ["run", FAST, "--input", question, "--model", "sandbox-refuse"]),
  ]);
  expect(left.executionId).toMatch(/^wfr_/);
  expect(rejected.code).toBe("ProviderRejected");
  await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [project]);
  const [canceled, waits] = await Promise.all([
    answer(["jobs", "cancel", jobId], how),
    refused(EXIT_CODES.humanGate, [...other, "--wait"], how),
  ]);
  expect(canceled.status).toMatch(/^cancel/);
  expect(waits.details.approvalUrl).toContain(waits.executionId);
});

test("who, and what is missing: each problem has its number and a next step", async () => {
  const wrong = await makeKey({ projectId: tenant.projectId, expiresInSeconds: 1, agedMs: 5_000 });
  const noKey = { env: { CAPSTAN_API_KEY: "" } };
  const [known, well, keyless, nowhere, keylessWho] = await Promise.all([
    answer(["whoami"]),
    answer(["doctor", FAST]),
    capstan(["doctor", "--json"], noKey),
    capstan(["doctor"], { env: { CAPSTAN_BASE_URL: "http://127.0.0.1:1" } }),
    refused(EXIT_CODES.usage, ["whoami"], noKey),
    refused(EXIT_CODES.unauthorized, ["whoami"], { env: { CAPSTAN_API_KEY: wrong } }),
    refused(EXIT_CODES.usage, ["jobs", "fly"]),
  ]);
  expect(known).toMatchObject({ projectId: tenant.projectId, context: { identity: {} }, login: null });
  expect(well.ready).toBe(true);
  expect(well.checks.map(({ name }: Body) => name)).toEqual(
    expect.arrayContaining(["healthz", "readyz", "session", "clock", "provider", "funding", "capability"]),
  );
  expect(keyless.code).toBe(EXIT_CODES.failed);
  expect(JSON.parse(keyless.out).checks.at(-1)).toMatchObject({
    name: "session",
    next: expect.stringContaining("login"),
  });
  expect(nowhere.code).toBe(EXIT_CODES.unavailable);
  expect(keylessWho.message).toContain("login");
});

test("a key is kept from standard input alone, for its owner alone, and sent to its own service alone", {
  tags: "long",
}, async () => {
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
  expect((await refused(EXIT_CODES.usage, ["whoami"], { env: elsewhere })).message).toContain("No API key");
  await answer(["logout"], { env });
  expect(readdirSync(join(home, "capstan"))).toEqual([]);
});

/** `capstan login`, with a person who decides once the code is shown. */
async function loginAs(person: Ctx, decision: "approved" | "denied", args: string[], env: How["env"]) {
  let deciding: Promise<void> | undefined;
  const onError = (text: string) => {
    const userCode = /approve the code (\S+) /.exec(text)?.[1];
    if (userCode) deciding ??= decideDevice(person, { userCode, decision });
  };
  const done = await capstan(["login", "--json", ...args], { env, onError });
  await deciding;
  return done;
}

test("login: a person approves the code, a key of their project is made and kept; logout ends both", {
  tags: "long",
}, async () => {
  const home = mkdtempSync(join(folder, "home-"));
  const env = { CAPSTAN_API_KEY: "", XDG_CONFIG_HOME: home };
  const { ctx: person, email, userId } = await makePerson(tenant.organizationId, "member");
  const { code, out, error } = await loginAs(person, "approved", ["--project", tenant.otherProjectId], env);
  expect(code, error + out).toBe(0);
  const said = JSON.parse(out);
  expect(said).toMatchObject({ account: email, principalId: userId, projectId: tenant.otherProjectId });
  const file = join(home, "capstan/config.json");
  const saved = JSON.parse(readFileSync(file, "utf8"));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const secret of [saved.apiKey, saved.sessionToken]) {
    expect(secret).toMatch(/^cap/);
    expect(`${out}${error}`).not.toContain(secret);
  }
  expect(await answer(["whoami"], { env })).toMatchObject({
    projectId: tenant.otherProjectId,
    principalId: said.keyId,
    login: { account: email, sessionId: said.sessionId },
  });

  // Signing in again ends what the last login left, and nothing else.
  const again = await loginAs(person, "approved", ["--project", tenant.projectId], env);
  expect(again.code, again.error).toBe(0);
  const now = JSON.parse(readFileSync(file, "utf8"));
  const { revoked, left } = await answer(["logout"], { env });
  expect({ revoked, left }).toEqual({ revoked: [now.keyId, now.sessionId], left: [] });
  expect(readdirSync(join(home, "capstan"))).toEqual([]);
  const secrets = [saved.apiKey, saved.sessionToken, now.apiKey, now.sessionToken];
  for (const secret of secrets) {
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${server.url}/v1/session/context`, { headers })).status).toBe(401);
  }
});

test("login that cannot go on says why, and leaves neither a session nor a file", {
  tags: "long",
}, async () => {
  const home = mkdtempSync(join(folder, "home-"));
  const env = { CAPSTAN_API_KEY: "", XDG_CONFIG_HOME: home };
  const people = await Promise.all([
    makePerson(tenant.organizationId, "member"),
    makePerson(tenant.organizationId, "member"),
    makePerson(tenant.organizationId, "viewer"),
    makePerson(tenant.organizationId, "member"),
  ]);
  const [denies, several, views, elsewhere] = people.map(({ ctx }) => ctx) as [Ctx, Ctx, Ctx, Ctx];
  const ended = await Promise.all([
    loginAs(denies, "denied", [], env),
    loginAs(several, "approved", [], env),
    loginAs(views, "approved", [], env),
    loginAs(elsewhere, "approved", ["--project", "cpr_of_strangers"], env),
  ]);
  const [denied, unclear, viewer, strange] = ended.map(({ out }) => JSON.parse(out).error);
  const { unauthorized, usage } = EXIT_CODES;
  expect(ended.map(({ code }) => code)).toEqual([unauthorized, usage, usage, usage]);
  expect(denied).toMatchObject({ code: "LoginNotApproved", message: expect.stringContaining("denied") });
  expect(unclear.message).toContain("--project");
  for (const id of [tenant.projectId, tenant.otherProjectId]) expect(unclear.message).toContain(id);
  expect(viewer.message).toContain("You cannot create a key in any project");
  expect(strange.message).toContain("cpr_of_strangers");
  const { rows } = await pool.query(
    "SELECT id FROM session WHERE kind = 'device' AND revoked_at IS NULL AND user_id = ANY($1)",
    [people.map(({ userId }) => userId)],
  );
  expect(rows).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
});

test("in a clone the source runs as it lies there; files are read and written where it was typed", {
  tags: "long",
}, async () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const [tsx, script] = String(scripts.capstan).split(" ");
  expect(tsx).toBe("tsx");
  writeFileSync(join(folder, "typed.json"), '{"expression": "2 + 3"}');
  const typed = ["run", "compute.evaluate.v1", "--input", "typed.json", "--out", "typed"];
  const { code, out, error } = await execute(
    process.execPath,
    [resolve("node_modules/tsx/dist/cli.mjs"), script!, ...typed],
    { env: { INIT_CWD: folder }, cwd: resolve(".") }, // npm starts scripts in the root
  );
  expect(code, error).toBe(0);
  expect(out).toContain("5");
  expect(statSync(join(folder, "typed")).isDirectory()).toBe(true);
});
