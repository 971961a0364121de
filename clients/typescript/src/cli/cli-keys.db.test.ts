import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { EXIT_CODES } from "@/server/contract/cli";
import type { Ctx } from "@/server/domain/ctx";
import { decideDevice } from "@/server/domain/sessions";
import { pool } from "@/server/platform/db";
import { makeKey } from "@/testing/api";
import { makePerson } from "@/testing/tenants";
import {
  answer,
  type Body,
  capstan,
  closeService,
  execute,
  FAST,
  folder,
  type How,
  openService,
  refused,
  server,
  tenant,
  test,
} from "./cli.fixture";

beforeAll(openService);
afterAll(closeService);

test("whoami and doctor report the key and what is missing, each problem with an exit code and a next step", async () => {
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

test("a key is read only from standard input, saved only for its owner, and sent only to its own service", {
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

/** Runs `capstan login`, with a person who decides once the code is shown. */
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

test("an approved login creates and saves a key of the person's project, and a logout revokes the key and ends the session", {
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

  // A second login ends what the first one left, and nothing else.
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

test("a login that cannot continue says why, and leaves neither a session nor a file", {
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

test("the source runs unbuilt in a clone, with paths relative to the caller's folder", {
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
