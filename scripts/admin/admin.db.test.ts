import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { access, isKeyText } from "@/server/domain/access";
import * as jobs from "@/server/domain/jobs";
import { findSignIn, verifySignIn } from "@/server/domain/organizations";
import { identify } from "@/server/domain/sessions";
import { pool } from "@/server/platform/db";
import { HOUR_MS } from "@/server/platform/time/units";
import { turnOn } from "@/testing/codes";
import { signIn as signInNow } from "@/testing/sessions";
import { PROGRAMS } from "@/testing/setup/programs";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import { inlineStep, makeProject } from "@/testing/world";
import { admin } from "./admin.fixture";
import { runAdmin } from "./command";

const directory = mkdtempSync(join(tmpdir(), "capstan-admin-"));
const databaseUrl = process.env.DATABASE_URL;
beforeAll(() => writeFileSync(join(directory, "runtime.json"), JSON.stringify({ databaseUrl })));
afterAll(async () => {
  rmSync(directory, { recursive: true });
});

type Ended = { code: number; stdout: string; stderr: string };

/** Runs the command as a shell does. */
function spawnAdmin(
  args: string[],
  { cwd = process.cwd(), ...env }: { cwd?: string; CAPSTAN_DATA_DIR?: string | undefined } = {},
): Promise<Ended> {
  const { DATABASE_URL: _, ...rest } = process.env;
  const command = [resolve(PROGRAMS, "admin.mjs"), ...args];
  return new Promise((ended) =>
    execFile(
      process.execPath,
      command,
      { cwd, env: { ...rest, CAPSTAN_DATA_DIR: directory, ...env } },
      (error, stdout, stderr) =>
        ended({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, stdout, stderr }),
    ),
  );
}

describe("the admin command", () => {
  test("wallets are shown and credited, live and sandbox separately, and compared with the ledger", async () => {
    const { organizationId } = await admin("organization", "create", "--name", "Funded");
    const fill = (...more: string[]) =>
      admin("wallet", "credit", "--organization", organizationId, "--reason", "a test", ...more);
    expect(await fill("--amount-micros", "5000000")).toMatchObject({
      isTest: false,
      amountMicros: 5_000_000,
    });
    await fill("--amount-micros=-1000000");
    await fill("--amount-micros", "2000000", "--test");
    expect(await admin("wallet", "show", "--organization", organizationId)).toMatchObject({
      available: { amountMicros: 4_000_000 },
      test: { available: { amountMicros: 2_000_000 } },
    });
    const check = ["ledger", "check", "--organization", organizationId];
    expect(await admin(...check)).toMatchObject({
      isBalanced: true,
      transactions: 3,
      entries: 6,
      wallets: 2,
      sums: [
        { currency: "USD", isTest: false, sumMicros: 0 },
        { currency: "USD", isTest: true, sumMicros: 0 },
      ],
      differences: [],
    });
    // Changes a balance without a ledger entry.
    await pool.query(
      "UPDATE wallet SET balance_micros = balance_micros + 7 WHERE organization_id = $1 AND is_test",
      [organizationId],
    );
    const found = await runAdmin([...check, "--json"]);
    expect(found.code).toBe(1);
    expect(JSON.parse(found.out).differences).toEqual([
      { what: "test wallet: balance", subject: organizationId, expected: 2_000_000, found: 2_000_007 },
    ]);
    for (const [wrong, word] of [
      [
        ["wallet", "credit", "--organization", organizationId, "--amount-micros", "1.5", "--reason", "x"],
        "micros",
      ],
      [
        ["wallet", "credit", "--organization", organizationId, "--amount-micros", "0", "--reason", "x"],
        "micros",
      ],
      [["wallet", "credit", "--organization", organizationId, "--amount-micros", "5"], "--reason"],
      [
        ["wallet", "credit", "--organization", "org_nobody", "--amount-micros", "5", "--reason", "x"],
        "no such",
      ],
      [["wallet", "show"], "--organization"],
      [["wallet", "show", "--organization", "org_nobody"], "no such"],
    ] as const) {
      const refused = await runAdmin([...wrong]);
      expect(refused.code).toBe(2);
      expect(refused.error).toContain(word);
    }
  });

  test("jobs that wait for an operator are listed and released", { tags: "long" }, async () => {
    const waiting = await Promise.all(
      ["accept", "fail"].map(async (way) => {
        const project = await makeProject();
        const { jobId } = await jobs.submit(project.ctx, "image.generate.v1", {
          input: { prompt: "Nobody can read this", sheet: { rows: 1, columns: 2, slice: true } },
          execution: { executionConstraints: { preferredModel: "sandbox-garbled" } },
        });
        await jobs.run(project.ctx, jobId, inlineStep(project.clock));
        return { way, jobId };
      }),
    );
    const { items } = await admin("job", "attention", "list");
    for (const { way, jobId } of waiting) {
      expect(items).toContainEqual(expect.objectContaining({ jobId, reason: "output_not_processed" }));
      const ended = await admin("job", "attention", way, "--job", jobId);
      expect(ended).toMatchObject({ jobId, status: way === "accept" ? "succeeded" : "failed" });
    }
    const left: { jobId: string }[] = (await admin("job", "attention", "list")).items;
    for (const { jobId } of waiting) expect(left.map((item) => item.jobId)).not.toContain(jobId);
  });

  test("releasing a job requires --job and the id of a job that exists", async () => {
    for (const way of ["retry", "accept", "fail"]) {
      expect(await runAdmin(["job", "attention", way])).toMatchObject({
        code: 2,
        error: "--job is required.",
      });
      const refused = await runAdmin(["job", "attention", way, "--job", "wfr_none"]);
      expect(refused).toMatchObject({
        code: 2,
        error: "There is no such job. Check the id or name, and that you have access to it.",
      });
    }
  });

  test("signing keys are rotated, and listed without their private halves", async () => {
    const { keyId } = await admin("signing-key", "rotate");
    const { items } = await admin("signing-key", "list");
    const listed = items.find((key: { keyId: string }) => key.keyId === keyId);
    expect(listed).toEqual({
      keyId: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      algorithm: "EdDSA",
      active: expect.any(Boolean),
      createdAt: expect.any(String),
      retiredAt: listed.active ? null : expect.any(String),
    });
    expect(items.filter((key: { active: boolean }) => key.active)).toHaveLength(1);
  });

  test("a project's settings for its jobs are set, and an invalid value is refused", async () => {
    const { organizationId } = await admin("organization", "create", "--name", "Settings");
    const own = ["--name", "Films", "--organization", organizationId];
    const { projectId } = await admin("project", "create", ...own);
    const set = (...args: string[]) => admin("project", "set", "--project", projectId, ...args);
    expect(await set("--maturity", "PG13", "--retention", "Transient=7,ProductManaged=30")).toEqual({
      projectId,
      maturityRating: "PG13",
      retentionDays: { Transient: 7, ProductManaged: 30 },
    });
    expect(await set("--maturity", "none", "--retention", "Transient=standard")).toEqual({
      projectId,
      maturityRating: null,
      retentionDays: { ProductManaged: 30 },
    });
    for (const wrong of [
      ["--maturity", "X"],
      ["--retention", "Forever=1"],
      ["--retention", "Transient=0"],
      ["--retention", "Transient"],
      [],
    ])
      expect(await runAdmin(["project", "set", "--project", projectId, ...wrong])).toMatchObject({ code: 2 });
    const nobody = ["project", "set", "--project", "cpr_none", "--maturity", "G"];
    expect(await runAdmin(nobody)).toMatchObject({
      code: 2,
      error: expect.stringContaining("no such project"),
    });
  });

  test("organizations, projects, keys, people and operators are created and listed as JSON", async () => {
    const { organizationId } = await admin("organization", "create", "--name", "Acme");
    const { projectId } = await admin(
      "project",
      "create",
      "--name",
      "Shop",
      "--organization",
      organizationId,
    );
    expect((await admin("organization", "list")).items).toContainEqual(
      expect.objectContaining({ organizationId, displayName: "Acme" }),
    );
    expect((await admin("project", "list", "--organization", organizationId)).items).toMatchObject([
      { projectId, displayName: "Shop" },
    ]);

    const key = await admin(
      "key",
      "create",
      "--project",
      projectId,
      "--name",
      "ci",
      "--scopes",
      "jobs:read,approvals:write",
      "--expires-in",
      "1h",
    );
    expect(isKeyText(key.apiKey)).toBe(true);
    expect(key).toMatchObject({
      keyId: expect.stringMatching(/^key_/),
      projectId,
      scopes: ["jobs:read", "approvals:write"],
    });
    expect(Date.parse(key.expiresAt) - Date.parse(key.createdAt)).toBe(HOUR_MS);
    const unbound = await admin("key", "create", "--organization", organizationId, "--name", "all");
    expect(unbound).toMatchObject({ projectId: null, organizationId });
    expect((await admin("key", "list", "--project", projectId)).items).toMatchObject([{ keyId: key.keyId }]);
    const ofOrganization = await admin("key", "list", "--organization", organizationId);
    expect(ofOrganization.items.map((each: { keyId: string }) => each.keyId)).toEqual([
      unbound.keyId,
      key.keyId,
    ]);
    await admin("key", "revoke", "--key", key.keyId);
    expect(await access.keyPrincipal(key.apiKey, new Date())).toBeNull();
    expect((await admin("key", "list", "--project", projectId)).items).toEqual([]);

    const email = `${organizationId}@example.com`;
    const user = await admin(
      "user",
      "create",
      "--email",
      email,
      "--organization",
      organizationId,
      "--role",
      "viewer",
    );
    expect(user).toMatchObject({
      email,
      isOperator: false,
      memberships: [{ organizationId, role: "viewer" }],
    });
    expect(
      await verifySignIn(system, { email, password: user.password, address: "admin-test" }),
    ).toMatchObject({ userId: user.userId });
    expect(await admin("operator", "grant", "--email", email)).toMatchObject({
      userId: user.userId,
      isOperator: true,
    });
    expect((await admin("operator", "list")).items).toContainEqual(expect.objectContaining({ email }));
    expect((await admin("user", "list", "--organization", organizationId)).items).toMatchObject([{ email }]);
  });

  test("user reset removes a person's second factor, identities and sessions, and is audited and notified", async () => {
    const { organizationId } = await makeTenant();
    const { ctx, userId, email, password } = await makePerson(organizationId, "member");
    const identity = { issuer: "https://id.example", name: "Id", subject: userId, verifiedEmail: email };
    await identify(ctx, identity);
    await turnOn(ctx, password);
    const other = await signInNow(userId);
    expect(await admin("user", "reset", "--email", email.toUpperCase())).toMatchObject({
      userId,
      hadSecondFactor: true,
      identities: 1,
    });
    expect(await access.sessionPrincipal(other, new Date())).toBeNull();
    expect(await findSignIn(email)).toMatchObject({ needsCode: false, sessionVersion: 3 });
    expect(await identify(ctx, { ...identity, verifiedEmail: null })).toEqual({
      refused: "EmailNotVerified",
    });
    const { rows } = await pool.query(
      `SELECT (SELECT details->>'email' FROM audit_entry WHERE subject = $1 AND action = 'user.sign_in_reset') AS email,
         (SELECT count(*)::int FROM notification WHERE user_id = $1 AND kind = 'account.sign_in_reset') AS told`,
      [userId],
    );
    expect(rows).toEqual([{ email, told: 1 }]);
  });

  test("a wrong command has exit code 2, no output, and an error that explains it", async () => {
    const wrong: [string[], RegExp][] = [
      [[], /Name a command/],
      [["key", "burn"], /Unknown command "key burn"/],
      [["project", "create"], /--name is required/],
      [
        ["key", "create", "--project", "cpr_x", "--name", "k", "--scopes", "nope"],
        /--scopes: "nope" is not one of/,
      ],
      [
        ["key", "create", "--project", "cpr_x", "--name", "k", "--expires-in", "soon"],
        /--expires-in takes seconds/,
      ],
      [["key", "create", "--project", "cpr_x", "--name", "k"], /There is no such project/],
      [["operator", "grant", "--email", "nobody@example.com"], /No account has/],
      [["user", "reset", "--email", "nobody@example.com"], /no such person/],
      [
        ["key", "create", "--project", "cpr_x", "--name", "k", "--expires-in", "0"],
        /--expires-in must be from one second/,
      ],
      [["key", "create", "--name", "k"], /--project is required, or --organization/],
      [
        ["key", "create", "--project", "cpr_x", "--organization", "org_x", "--name", "k"],
        /this project is not in this --organization/,
      ],
      [["key", "list", "--colour", "red"], /Unknown option '--colour'/],
      [["organization", "list", "--email", "a@b.c"], /does not take --email\. It takes --json, --help/],
    ];
    for (const [args, words] of wrong) {
      const ended = await runAdmin([...args, "--json"]);
      expect(ended).toMatchObject({ code: 2, out: "" });
      expect(ended.error).toMatch(words);
    }
  });

  test("without --json a list is a table without JSON", async () => {
    const { organizationId } = await admin("organization", "create", "--name", "Words");
    await admin("project", "create", "--name", "Reader", "--organization", organizationId);
    const { out } = await runAdmin(["project", "list", "--organization", organizationId]);
    expect(out).toContain("development, production");
    expect(out).not.toMatch(/[{}[\]"]/);
  });

  test("the settings of .env apply if the environment has none", { tags: "long" }, async () => {
    const home = mkdtempSync(join(tmpdir(), "capstan-admin-home-"));
    writeFileSync(join(home, ".env"), `CAPSTAN_DATA_DIR=${directory}\n`);
    const { code, stdout, stderr } = await spawnAdmin(["organization", "list", "--json"], {
      CAPSTAN_DATA_DIR: undefined,
      cwd: home,
    });
    rmSync(home, { recursive: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout).items).toBeInstanceOf(Array);
  });

  test("the running installation is found, and its absence is reported", { tags: "long" }, async () => {
    const { code, stdout, stderr } = await spawnAdmin(["organization", "list", "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout).items).toBeInstanceOf(Array);
    const nowhere = await spawnAdmin(["key", "list"], { CAPSTAN_DATA_DIR: join(directory, "nothing") });
    expect(nowhere).toMatchObject({ code: 2 });
    expect(nowhere.stderr).toMatch(/No installation is running here/);
  });
});
