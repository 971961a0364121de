import fs from "node:fs";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import * as credentials from "@/server/domain/connections";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { startVendor } from "@/server/providers/testing/vendor";
import { call, finish, makeKey, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { system } from "@/testing/tenants";
import { MODELS } from "@/testing/vault";
import {
  ANSWER,
  at,
  closeVendor,
  connect,
  input,
  openVendor,
  sent,
  submit,
  vendor,
} from "./connections.fixture";

beforeAll(openVendor);
afterAll(() => closeVendor());
afterEach(() => {
  setSettings({ OPENAI_API_KEY: undefined });
  vi.restoreAllMocks();
});

test.each([
  ["deleted", (of: Tenant, id: string) => credentials.deleteCredential(system, of.organizationId, id)],
  [
    "unbound",
    (of: Tenant, id: string, binding: string) =>
      credentials.unbindCredential(system, of.organizationId, id, binding),
  ],
] as const)(
  "a job whose connection is %s while it waits is not sent, and its hold is released",
  async (_how, end) => {
    const tenant = await makeTenant();
    const { credentialId, bindingId } = await connect(tenant);
    const jobId = await submit(tenant);
    await end(tenant, credentialId, bindingId);
    // Even a replacement account does not help: a job admitted on an account runs on it or not at all.
    await connect(tenant);
    vendor.answer(ANSWER);
    const job = await finish(jobId);
    expect(job).toMatchObject({ status: "failed", error: { code: "ProviderUnavailable" } });
    expect(job.error?.message).toContain("no longer connected");
    expect(sent()).toEqual([]);
    const { rows } = await pool.query("SELECT state FROM hold WHERE execution_id = $1", [jobId]);
    expect(rows).toEqual([{ state: "released" }]);
  },
);

test("a job that waits while its secret is rotated runs with the new one", async () => {
  const tenant = await makeTenant();
  const { credentialId } = await connect(tenant);
  const jobId = await submit(tenant);
  await credentials.rotateCredential(system, tenant.organizationId, credentialId, {
    input: {
      provider: "openai",
      secret: "sk-the-second-one",
      label: "default",
    },
  });
  vendor.answer(ANSWER);
  expect((await finish(jobId)).status).toBe("succeeded");
  expect(sent().map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-the-second-one"]);
});

test("a ciphertext copied from another organization's row does not open: nothing is sent", async () => {
  const [mine, theirs] = [await makeTenant(), await makeTenant()];
  const [own, foreign] = [await connect(mine), await connect(theirs)];
  const jobId = await submit(mine);
  await pool.query(
    "UPDATE credential SET sealed = (SELECT sealed FROM credential WHERE id = $2) WHERE id = $1",
    [own.credentialId, foreign.credentialId],
  );
  vendor.answer(ANSWER);
  expect(await finish(jobId)).toMatchObject({ status: "failed", error: { code: "ProviderUnavailable" } });
  expect(sent()).toEqual([]);
  const binding = [own.credentialId, theirs.organizationId];
  await expect(
    pool.query("UPDATE credential_binding SET organization_id = $2 WHERE credential_id = $1", binding),
  ).rejects.toThrow(/foreign key/);
});

test("a secret goes to the address it was stored for, wherever this deployment reaches the provider now", async () => {
  const tenant = await makeTenant();
  await connect(tenant);
  const jobId = await submit(tenant);
  const elsewhere = await startVendor();
  const before = env.OPENAI_BASE_URL;
  try {
    setSettings({ OPENAI_BASE_URL: elsewhere.url });
    vendor.answer(ANSWER);
    expect((await finish(jobId)).status).toBe("succeeded");
    expect([sent().length, elsewhere.arrived]).toEqual([1, []]);
  } finally {
    setSettings({ OPENAI_BASE_URL: before });
    await elsewhere.stop();
  }
});

/** A secret in every form that could carry it, and each run of twelve of its characters. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const pieces = Array.from({ length: secret.length - 11 }, (_, start) => secret.slice(start, start + 12));
  return [
    ...pieces,
    bytes.toString("base64").slice(0, 16),
    bytes.toString("hex"),
    encodeURIComponent(secret),
  ];
}

test("a secret appears nowhere: not in answers, errors, receipts, logs or the database", async () => {
  const tenant = await makeTenant();
  const secret = "sk-canary/7Qm+41zXw=Lp9vT3";
  const written: string[] = [];
  const { level } = log;
  onTestFinished(() => {
    log.level = level;
  });
  log.level = "trace";
  for (const name of ["writeSync", "write"] as const)
    vi.spyOn(fs, name).mockImplementation(((_fd: number, data: string, ...rest: unknown[]) => {
      written.push(String(data));
      const done = rest.at(-1);
      if (typeof done === "function") done(null, Buffer.byteLength(String(data)), data);
      return Buffer.byteLength(String(data));
    }) as never); // both functions take a descriptor first
  const answers: string[] = [];
  const owner = await sessionHeaders(tenant.organizationId, "owner");
  const path = `/v1/organizations/${tenant.organizationId}/provider-credentials`;
  const body = { provider: "openai", secret };
  const echo = {
    status: 401,
    headers: { "x-request-id": secret },
    json: { error: { code: secret, message: secret } },
  };
  vendor.answer(echo);
  const keep = async (answer: ReturnType<typeof call>) => {
    const { text, headers, json } = await answer;
    answers.push(text, JSON.stringify(headers));
    return json;
  };
  await keep(call("POST", path, { headers: owner, body }));
  await keep(call("POST", path, { headers: owner, body: { ...body, secret: `${secret}\n\u00fc` } }));
  vendor.answer(MODELS);
  const { credentialId } = await keep(call("POST", path, { headers: owner, body }));
  await keep(call("GET", path, { headers: owner }));
  const place = { projectId: tenant.projectId, environment: "development", provider: "openai" };
  await keep(call("POST", `${path}/${credentialId}/bindings`, { headers: owner, body: place }));
  const key = await makeKey({ projectId: tenant.projectId, scopes: ["credentials:write"] });
  await keep(call("POST", `${path}/${credentialId}/rotate`, { key, body }));
  for (const script of [ANSWER, echo, { ...echo, status: 500 }, { text: secret }, "cut"] as const) {
    vendor.answer(script);
    const jobId = await submit(tenant);
    const job = await finish(jobId);
    answers.push(JSON.stringify(job));
    for (const more of ["", "/receipt", "/events", "/result", "/request"])
      await keep(tenant.get(`/v1/jobs/${jobId}${more}`));
    vendor.answer(script);
    await keep(tenant.post(at("invoke"), { input }));
  }
  expect(vendor.arrived[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  // The test's own vendor received the secret; nothing else may contain it.
  const { rows: tables } = await pool.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'",
  );
  const dump: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT "${name}"::text AS row FROM "${name}"`);
    dump.push(...rows.map(({ row }) => row));
  }
  log.warn({ credentialId }, "the log is heard by this test");
  expect(written.join("\n")).toContain(credentialId);
  expect(dump.join("\n")).toContain(credentialId);
  expect(answers.join("\n")).toContain(credentialId);
  for (const form of formsOf(secret)) {
    for (const place of [answers, dump, written])
      expect(place.some((text) => text.includes(form))).toBe(false);
  }
});
