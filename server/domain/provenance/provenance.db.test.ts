import { describe, expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import * as provenance from "@/server/domain/provenance";
import { publicKeys } from "@/server/domain/signing";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { canonicalText } from "@/server/platform/text/canonical";
import { DAY_MS } from "@/server/platform/time/units";
import { verifyDocument } from "@/server/verify";
import { plain, runBulk, submitBulk } from "@/testing/bulks";
import { makeProject, type TestProject } from "@/testing/world";

const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };

const pin = (ctx: TestProject["ctx"], fields: object = {}) =>
  pins.run(ctx, {
    pin: PIN,
    instructions: "Answer in one word.",
    input: "How deep is the sea?",
    sampling: { temperature: 0.2, maxOutputTokens: 64 },
    ...fields,
  });

async function calculate(ctx: TestProject["ctx"]): Promise<string> {
  const { executionId } = await jobs.invoke(ctx, "compute.evaluate.v1", { expression: "2 ^ 0.5" });
  return (await jobs.receipt(ctx, executionId)).receiptId;
}

describe("a manifest", () => {
  test("a manifest lists receipts of jobs and pinned executions by hash, and can be verified here and independently", async () => {
    const { ctx, projectId } = await makeProject();
    const { receipt } = await pin(ctx);
    const job = await calculate(ctx);
    const manifest = await provenance.createManifest(ctx, {
      label: "Sea depths",
      receiptIds: [job, receipt.receiptId],
      experimentHash: "exp-1",
    });
    expect(manifest).toMatchObject({ projectId, label: "Sea depths", experimentHash: "exp-1" });
    expect(manifest.receipts).toMatchObject([
      { receiptId: job, pin: null },
      {
        receiptId: receipt.receiptId,
        receiptHash: receipt.recordHash,
        pin: PIN,
        outputHash: receipt.outputHash,
      },
    ]);
    expect(await provenance.getManifest(ctx, manifest.manifestId)).toEqual(manifest);
    const receipts = [receipt, await jobs.receipt(ctx, `wfr_${job.slice(5)}`)];
    expect(await verifyDocument(manifest, await publicKeys(), { receipts })).toMatchObject({
      verified: true,
    });
    expect(await provenance.verifyManifest(ctx, manifest.manifestId)).toEqual({
      manifestId: manifest.manifestId,
      verified: true,
      receiptsExpected: 2,
      receiptsFound: 2,
      pinsMatching: 2,
      requestHashDrift: [],
      receiptsInvalid: [],
      fallbacks: 0,
      providerRetries: 0,
      providerSpend: expect.objectContaining({ amountMicros: 0 }), // the sandbox costs nothing
      costUnknown: 0,
      manifestHashMatches: true,
      signatureValid: true,
    });
  });

  test("a manifest refuses repeated, missing and foreign receipts, each at its place", async () => {
    const { ctx } = await makeProject();
    const other = await makeProject();
    const [mine, theirs] = [await calculate(ctx), await calculate(other.ctx)];
    const refused = (receiptIds: string[]) =>
      provenance.createManifest(ctx, { label: "x", receiptIds }).catch((cause) => cause.issues);
    const missing = newId("receipt");
    const issues = await refused([mine, theirs, missing, mine]);
    expect(issues).toEqual([
      { loc: ["body", "receiptIds", 3], msg: expect.any(String), type: "duplicate" },
      { loc: ["body", "receiptIds", 1], msg: "There is no such receipt in this project.", type: "not_found" },
      { loc: ["body", "receiptIds", 2], msg: "There is no such receipt in this project.", type: "not_found" },
    ]);
    await expect(
      provenance.createManifest(ctx, { label: "x", receiptIds: [mine], projectId: other.projectId }),
    ).rejects.toMatchObject({ code: "AuthorizationFailed" });
    expect((await provenance.listManifests(ctx, { limit: 25 })).items).toEqual([]);
  });

  test("a manifest cannot be changed or removed, and the list of manifests pages newest first", async () => {
    const { ctx } = await makeProject();
    const receiptIds = [await calculate(ctx)];
    const made = [];
    for (const label of ["one", "two", "three"])
      made.push((await provenance.createManifest(ctx, { label, receiptIds })).manifestId);
    const first = await provenance.listManifests(ctx, { limit: 2 });
    expect(first.items).toMatchObject([
      { label: "three", receiptCount: 1 },
      { label: "two", experimentHash: null },
    ]);
    const second = await provenance.listManifests(ctx, { limit: 2, cursor: first.nextCursor ?? "" });
    expect(second).toMatchObject({ items: [{ label: "one", manifestId: made[0] }], nextCursor: null });
    await expect(pool.query("UPDATE manifest SET label = 'x' WHERE id = $1", [made[0]])).rejects.toThrow(
      /append-only/,
    );
    await expect(pool.query("DELETE FROM manifest WHERE id = $1", [made[0]])).rejects.toThrow(/append-only/);
  });

  test("a manifest of a thousand bulk items is created and verified in their order", {
    tags: "long",
  }, async () => {
    const project = await makeProject();
    const bulkId = await submitBulk(project, plain(1_000), { concurrency: 64 });
    await runBulk(project, bulkId);
    const { items } = await pins.getBulk(project.ctx, bulkId, { limit: 1_000 });
    const receiptIds = items.map(({ receiptId }) => receiptId!);
    const manifest = await provenance.createManifest(project.ctx, { label: "Many", receiptIds });
    expect(manifest.receipts.map(({ receiptId }) => receiptId)).toEqual(receiptIds);
    expect(await provenance.verifyManifest(project.ctx, manifest.manifestId)).toMatchObject({
      verified: true,
      receiptsFound: 1_000,
      pinsMatching: 1_000,
      receiptsInvalid: [],
    });
  });

  test("a verification lists each receipt that has drifted, was forged or is missing", async () => {
    const { ctx, projectId, organizationId } = await makeProject();
    const { receipt } = await pin(ctx);
    const whole = await provenance.createManifest(ctx, { label: "x", receiptIds: [receipt.receiptId] });
    // A forged manifest, as someone with database access could write it.
    const id = newId("manifest");
    const [line] = whole.receipts;
    const { manifestHash, signature, ...body } = whole;
    const receipts = [
      { ...line, requestHash: "v1:other", receiptHash: "0".repeat(64), pin: { ...PIN, model: "sandbox-2" } },
      { ...line, receiptId: newId("receipt") },
    ];
    await pool.query(
      `INSERT INTO manifest (id, project_id, organization_id, created_by, label, receipt_count, body, hash, signature, key_id, created_at)
       VALUES ($1, $2, $3, 'x', 'x', 2, $4, $5, $6, $7, now())`,
      [
        id,
        projectId,
        organizationId,
        canonicalText(JSON.parse(JSON.stringify({ ...body, manifestId: id, receipts }))),
        manifestHash,
        signature.value,
        signature.keyId,
      ],
    );
    expect(await provenance.verifyManifest(ctx, id)).toMatchObject({
      verified: false,
      receiptsExpected: 2,
      receiptsFound: 1,
      pinsMatching: 0,
      requestHashDrift: [receipt.receiptId],
      receiptsInvalid: [receipt.receiptId],
      manifestHashMatches: false,
      signatureValid: false,
    });
  });
});

describe("a lockfile", () => {
  test("a lockfile is the same for the same record, can be verified independently, and passes every check", async () => {
    const { ctx } = await makeProject();
    const { receipt, receiptId } = await pin(ctx);
    const lockfile = await provenance.getLockfile(ctx, receiptId);
    expect(lockfile).toMatchObject({ receiptId, pin: PIN, settings: receipt.settings });
    expect(await provenance.getLockfile(ctx, receiptId)).toEqual(lockfile);
    const prompt = { instructions: "Answer in one word.", input: "How deep is the sea?" };
    const witnesses = { receipts: [receipt], prompt };
    expect(await verifyDocument(lockfile, await publicKeys(), witnesses)).toMatchObject({ verified: true });
    const { verified, checks } = await provenance.verifyLockfile(ctx, { ...lockfile });
    expect({ verified, checks }).toMatchObject({ verified: true, checks: Array(5).fill({ ok: true }) });
    expect(checks[2]?.detail).toContain("the same bytes would be sent today");
  });

  test("a changed lockfile is refused, and the answer lists the changed members and the failed checks", async () => {
    const { ctx } = await makeProject();
    const { receiptId } = await pin(ctx);
    const lockfile = await provenance.getLockfile(ctx, receiptId);
    const semantics = async (changed: object) => {
      const { verified, checks } = await provenance.verifyLockfile(ctx, { ...lockfile, ...changed });
      expect(verified).toBe(false);
      const [check] = checks.filter(({ ok }) => !ok);
      expect(check?.name).toBe("request_semantics_unchanged");
      return check?.detail;
    };
    const detail = await semantics({
      settings: { ...lockfile.settings, temperature: 0.9 },
      processing: "deferred",
    });
    expect(detail).toContain("settings.temperature is 0.9, but the record has 0.2");
    expect(detail).toContain('processing is "deferred", but the record has "standard"');
    expect(detail).toContain("hash_matches");
    expect(await semantics({ more: 1 })).toContain("more is 1, but the record has nothing");
    expect(await semantics({ signature: { ...lockfile.signature, value: "A".repeat(86) } })).toContain(
      "signature_valid",
    );
  });

  test("a lockfile whose content was removed passes by its settings alone", async () => {
    const { ctx } = await makeProject();
    const { receiptId, executionId } = await pin(ctx, { sampling: { temperature: 0.7, stop: ["."] } });
    const lockfile = await provenance.getLockfile(ctx, receiptId);
    await pool.query("UPDATE payload SET content = NULL WHERE pinned_id = $1", [executionId]);
    const { verified, checks } = await provenance.verifyLockfile(ctx, { ...lockfile });
    expect(verified).toBe(true);
    expect(checks[2]?.detail).toContain("the content was removed");
  });

  test("the lockfile of a bulk item passes, and by its settings alone if either content was removed", async () => {
    const project = await makeProject();
    const { ctx } = project;
    const instructions = "Answer in one word.";
    const bulkId = await submitBulk(project, ["How deep?", "[refuse] How far?"], {
      instructions,
      tools: [{ type: "function", name: "measure", parameters: { type: "object" } }],
      toolChoice: { type: "function", name: "measure" },
    });
    await runBulk(project, bulkId);
    const [one, refused] = (await pins.getBulk(ctx, bulkId)).items;
    const lockfile = await provenance.getLockfile(ctx, one!.receiptId!);
    const record = await pins.get(ctx, one!.receiptId!);
    const witnesses = { receipts: [record], prompt: { instructions, input: "How deep?" } };
    expect(await verifyDocument(lockfile, await publicKeys(), witnesses)).toMatchObject({ verified: true });
    const semantics = async () => (await provenance.verifyLockfile(ctx, { ...lockfile })).checks[2];
    expect(await semantics()).toMatchObject({
      ok: true,
      detail: expect.stringContaining("the same bytes would be sent today"),
    });
    const other = await provenance.getLockfile(ctx, refused!.receiptId!);
    expect((await provenance.verifyLockfile(ctx, { ...other })).checks[2]).toMatchObject({ ok: true });
    const settingsAlone = { ok: true, detail: expect.stringContaining("the content was removed") };
    await pool.query("UPDATE payload SET content = NULL WHERE bulk_id = $1 AND kind = 'request'", [bulkId]);
    expect(await semantics()).toMatchObject(settingsAlone);
    await pool.query("UPDATE payload SET content = NULL WHERE pinned_id = $1", [record.pinnedId]);
    expect(await semantics()).toMatchObject(settingsAlone);
  });

  test("a lockfile fails if the last run of its pin failed, or none ran within thirty days", async () => {
    const { ctx, clock } = await makeProject();
    const { receiptId } = await pin(ctx);
    const lockfile = await provenance.getLockfile(ctx, receiptId);
    const conformance = async () => (await provenance.verifyLockfile(ctx, { ...lockfile })).checks[4];
    clock.advance(29 * DAY_MS);
    expect(await conformance()).toMatchObject({ name: "conformance_passed", ok: true });
    clock.advance(2 * DAY_MS);
    expect(await conformance()).toMatchObject({
      ok: false,
      detail: expect.stringContaining("no run of this pin"),
    });
    clock.advance(-31 * DAY_MS);
    const runLast = (lastReceiptId: string, code: string) =>
      pool.query(
        `INSERT INTO pinned_execution SELECT (jsonb_populate_record(pinned, jsonb_build_object('id', $2::text, 'status',
           'failed', 'receipt_id', $3::text, 'error', jsonb_build_object('code', $4::text)))).*
         FROM pinned_execution pinned WHERE receipt_id = $1`,
        [receiptId, newId("pinned"), lastReceiptId, code],
      );
    // A run that failed for lack of funds shows nothing about the pin.
    for (const code of ["BudgetExceeded", "funding_required"]) await runLast(newId("receipt"), code);
    expect(await conformance()).toMatchObject({ ok: true, detail: expect.stringContaining(receiptId) });
    await runLast("rcpt_last", "ProviderRejected");
    expect(await conformance()).toMatchObject({
      ok: false,
      detail: expect.stringContaining("rcpt_last failed"),
    });
  });

  test("a lockfile exists only for the caller's own pinned executions", async () => {
    const { ctx } = await makeProject();
    const other = await makeProject();
    const job = await calculate(ctx);
    await expect(provenance.getLockfile(ctx, job)).rejects.toMatchObject({
      issues: [{ loc: ["query", "receipt_id"], type: "not_pinned" }],
    });
    const { receiptId } = await pin(other.ctx);
    const theirs = await provenance.getLockfile(other.ctx, receiptId);
    for (const id of [receiptId, newId("receipt")]) {
      await expect(provenance.getLockfile(ctx, id)).rejects.toMatchObject({ code: "NotFound" });
      await expect(provenance.verifyLockfile(ctx, { ...theirs, receiptId: id })).rejects.toMatchObject({
        issues: [{ loc: ["body", "receiptId"], msg: "There is no such pinned record." }],
      });
    }
    await expect(provenance.verifyLockfile(ctx, {})).rejects.toHaveProperty("issues");
  });
});
