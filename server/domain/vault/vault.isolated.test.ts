import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import * as credentials from "@/server/domain/connections";
import { openAccount } from "@/server/domain/connections";
import { sealContent } from "@/server/domain/content";
import { systemCtx } from "@/server/domain/ctx";
import { startSecondFactor } from "@/server/domain/sessions";
import {
  fingerprintOf,
  forgetVaultKeys,
  isSignedText,
  openSecret,
  sealedUnder,
  sealSecret,
  signText,
  vaultKeyId,
} from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { setSettings } from "@/testing/settings";
import { makePerson } from "@/testing/tenants";
import { openVault, SECRET } from "@/testing/vault";
import { announceVaultKeys, rewrapAll, vaultStatus } from ".";

// A rewrap changes every sealed value of the database, so these tests have a database of their own.
setSettings({ ALLOW_PRIVATE_ADDRESSES: true }); // the vendor and the receiver run on this machine

const system = systemCtx("vault-test");
const [OLD, NEW] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
const idOf = (key: string) => vaultKeyId(Buffer.from(key, "base64"));

/** Applies these keys as if the process had started with them. */
function withKeys(current: string, ...others: string[]): void {
  setSettings({ CAPSTAN_VAULT_KEY: current, CAPSTAN_VAULT_OTHER_KEYS: others });
  forgetVaultKeys();
}

beforeEach(() => withKeys(OLD));

const PRIVATE = { dataClassification: "PrivateUserContent" };
/** The work runs on the sandbox, although the project has its own account. */
const execution = { execution: { executionConstraints: { preferredModel: "sandbox-1" } } };
const input = { messages: [{ role: "user", content: "Write about rivers." }] };
const TEXT = "/v1/capabilities/text.general.fast.v1";

/** Creates encrypted values in each of the columns that the test below names. */
async function fill() {
  const vault = await openVault();
  const { tenant } = vault;
  const context = { ...PRIVATE, projectId: tenant.projectId };
  const endpoint = await tenant.post("/v1/delivery-endpoints", {
    url: `${vault.vendor.url}/hook`,
    secret: `whsec_${randomBytes(24).toString("base64")}`,
  });
  expect(endpoint.json.detail).toBeUndefined();
  const person = await makePerson(tenant.organizationId, "member");
  await startSecondFactor(person.ctx, person.password);
  const job = await tenant.post(`${TEXT}/jobs`, { input, context, ...execution });
  expect(job.json.detail).toBeUndefined();
  await finish(job.json.jobId);
  const streamed = await tenant.post(`${TEXT}/invoke`, {
    input,
    context,
    executionMode: "Stream",
    ...execution,
  });
  expect(streamed.json.detail).toBeUndefined();
  await vi.waitFor(async () => {
    const { json } = await tenant.get(`/v1/jobs/${streamed.json.executionId}`);
    expect(json.status).toBe("succeeded");
  }, 60_000);
  return { ...vault, tenant, jobId: String(job.json.jobId) };
}

/** Returns every column of the database that has a text sealed under this key, whatever code wrote it. */
async function placesOf(keyId: string): Promise<string[]> {
  const { rows: columns } = await pool.query<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND data_type IN ('text', 'json', 'jsonb', 'character varying')
       AND table_schema = current_schema() AND table_name IN (SELECT tablename FROM pg_tables)`,
  );
  const found: string[] = [];
  for (const { table_name, column_name } of columns) {
    const { rows } = await pool.query(
      `SELECT 1 FROM "${table_name}" WHERE "${column_name}"::text LIKE $1 LIMIT 1`,
      [`%v1.${keyId}.%`],
    );
    if (rows.length > 0) found.push(`${table_name}.${column_name}`);
  }
  return found.sort();
}

const requestOf = async (tenant: Tenant, jobId: string) =>
  (await tenant.get(`/v1/jobs/${jobId}/request`)).json;

test("every encrypted value is rewrapped, so that the new key alone opens it and nothing uses the old one", {
  tags: "long",
}, async () => {
  const { tenant, jobId, close } = await fill();
  try {
    const asked = await requestOf(tenant, jobId);
    const signed = signText("until tomorrow", "test");
    const sealedIn = await placesOf(idOf(OLD));
    expect(sealedIn).toEqual(
      expect.arrayContaining([
        "credential.sealed",
        "delivery_endpoint.secret",
        "payload.content",
        "signing_key.private_key",
        "stream_frame.data",
        "user_account.second_factor_secret",
      ]),
    );

    withKeys(NEW, OLD);
    expect(await requestOf(tenant, jobId)).toEqual(asked);
    expect(isSignedText("until tomorrow", "test", signed)).toBe(true);
    expect(isSignedText("until doomsday", "test", signed)).toBe(false);
    const before = await vaultStatus(system);
    expect(before).toMatchObject({ keyId: idOf(NEW) });
    expect(before.keys.find(({ keyId }) => keyId === idOf(OLD))).toMatchObject({ canGo: false });
    const { rewrapped, unopenable } = await rewrapAll(system);
    expect(unopenable).toBe(0);
    expect(rewrapped).toBe(before.keys.find(({ keyId }) => keyId === idOf(OLD))?.values);
    expect(await rewrapAll(system)).toMatchObject({ rewrapped: 0, unopenable: 0 });
    expect(await placesOf(idOf(OLD))).toEqual([]);
    const after = await vaultStatus(system);
    expect(after.keys.find(({ keyId }) => keyId === idOf(OLD))).toMatchObject({ values: 0, canGo: true });

    withKeys(NEW);
    expect(await requestOf(tenant, jobId)).toEqual(asked);
    const { rows } = await pool.query<{ id: string; fingerprint: string }>(
      "SELECT id, fingerprint FROM credential WHERE organization_id = $1 AND provider = 'openai'",
      [tenant.organizationId],
    );
    const project = { id: tenant.projectId, environment: "development" };
    const account = await openAccount(rows[0]?.id ?? "", "openai", project);
    expect(account?.credentials.apiKey?.reveal()).toBe(SECRET);
    // Equal secrets still have equal fingerprints.
    const twin = await credentials.createCredential(
      system,
      tenant.organizationId,
      { provider: "openai", secret: SECRET, label: "twin" },
      { places: [] },
    );
    expect(rows[0]?.fingerprint).toBe(twin.fingerprint);
    // The signing key was opened and not replaced.
    expect((await pool.query("SELECT id FROM signing_key")).rows).toHaveLength(1);
  } finally {
    await close();
  }
});

test("a value written during a rewrap stays as it was written, and opens under either key", async () => {
  const { projectId } = await makeTenant();
  const ids = Array.from({ length: 450 }, () => newId("payload"));
  await pool.query(
    `INSERT INTO payload (id, project_id, kind, content, is_sealed, sha256, byte_length, created_at)
     SELECT id, $2, 'input', content, true, '', 0, now() FROM unnest($1::text[], $3::text[]) AS x(id, content)`,
    [ids, projectId, ids.map((id) => sealContent(`first ${id}`, id))],
  );
  withKeys(NEW, OLD);
  const handing = rewrapAll(system);
  const rewritten = ids.filter((_, index) => index % 3 === 0);
  for (const id of rewritten)
    await pool.query("UPDATE payload SET content = $2 WHERE id = $1", [id, sealContent(`second ${id}`, id)]);
  expect((await handing).unopenable).toBe(0);
  withKeys(NEW);
  const { rows } = await pool.query<{ id: string; content: string }>(
    "SELECT id, content FROM payload WHERE project_id = $1",
    [projectId],
  );
  expect(rows).toHaveLength(450);
  for (const { id, content } of rows)
    expect(openSecret(content, `payload|${id}|content`).toString()).toBe(
      `${rewritten.some((each) => each === id) ? "second" : "first"} ${id}`,
    );
});

test("nothing is rewrapped under a key that a live process lacks, and the process is named", async () => {
  const behind = await announceVaultKeys("worker");
  withKeys(NEW, OLD);
  await expect(rewrapAll(system)).rejects.toMatchObject({
    code: "PolicyRejected",
    details: { processes: [expect.stringContaining("worker@")] },
  });
  await behind.stop();
  withKeys(OLD, NEW);
  const ready = await announceVaultKeys("web");
  withKeys(NEW, OLD);
  await rewrapAll(system);
  // The process still seals with the old key, so the key must stay.
  const { keys } = await vaultStatus(system);
  expect(keys.find(({ keyId }) => keyId === idOf(OLD))).toMatchObject({ canGo: false });
  await ready.stop();
});

test("a value that does not open is counted, reported and left unchanged", async () => {
  const { projectId } = await makeTenant();
  const id = newId("payload");
  const damaged = sealSecret("text", `payload|${id}|content`).replace(/^(v1\.[^.]+\.).{8}/, "$1AAAAAAAA");
  await pool.query(
    `INSERT INTO payload (id, project_id, kind, content, is_sealed, sha256, byte_length, created_at)
     VALUES ($1, $2, 'input', $3, true, '', 0, now())`,
    [id, projectId, damaged],
  );
  withKeys(NEW, OLD);
  expect(await rewrapAll(system)).toMatchObject({ unopenable: 1 });
  const { rows } = await pool.query("SELECT content FROM payload WHERE id = $1", [id]);
  expect(rows).toEqual([{ content: damaged }]);
  expect(sealedUnder(damaged)).toBe(idOf(OLD));
  await pool.query("DELETE FROM payload WHERE id = $1", [id]);
});

test("installations with different keys make different fingerprints and signatures of the same text", () => {
  const [fingerprint, signature] = [fingerprintOf("s", "o"), signText("t", "p")];
  withKeys(NEW);
  expect(fingerprintOf("s", "o")).not.toBe(fingerprint);
  expect(isSignedText("t", "p", signature)).toBe(false);
});

test("every module that encrypts is listed here", () => {
  const files = ["server", "inngest", "app", "scripts"]
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`))
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|\/generated\//.test(file));
  const sealing = files.filter((file) => /\bseal(Secret|Content)\(/.test(readFileSync(file, "utf8")));
  expect(sealing.sort()).toEqual([
    "server/domain/connections/secret-fields.ts", // credential.sealed
    "server/domain/content.ts",
    "server/domain/inputs/payloads.ts", // payload.content
    "server/domain/jobs/following/fan-out.ts", // delivery.body
    "server/domain/jobs/following/frames.ts", // stream_frame.data
    "server/domain/jobs/following/reader.ts", // event_text.text
    "server/domain/jobs/running/set-aside.ts", // payload.content
    "server/domain/jobs/transitions/admission.ts", // payload.content
    "server/domain/jobs/transitions/answer.ts", // payload.content
    "server/domain/pins/bulk/admission.ts", // payload.content
    "server/domain/pins/transitions.ts", // payload.content
    "server/domain/sessions/codes.ts", // user_account.second_factor_secret
    "server/domain/signing/keys.ts", // signing_key.private_key
    "server/domain/vault/canary.ts", // vault_canary.sealed
    "server/domain/webhooks/secrets.ts", // delivery_endpoint.secret
    "server/platform/crypto/vault.ts",
  ]);
});
