import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { call, makeTenant } from "@/testing/api";
import { at, input, openTenant, refused, run, TEXT, tap, tenant } from "./envelope.fixture";

const say = (content: string) => ({ messages: [{ role: "user", content }] });

beforeAll(openTenant);
afterAll(() => tap.stop());

describe("stored inputs", () => {
  const store = async (body: object) => (await tenant.post("/v1/payloads", body)).json.payloadId as string;

  test("inline content and a reference to it are the same request, on jobs, invoke and quote", async () => {
    const content = say("By reference.");
    const ref = await store(content);
    const idempotencyKey = newId("request");
    const inline = await tenant.post(at(TEXT, "jobs"), { input: content, idempotencyKey });
    const stored = await tenant.post(at(TEXT, "jobs"), { inputPayloadRef: ref, idempotencyKey });
    expect(stored.json).toEqual({ ...inline.json, idempotency: { source: "client", replayed: true } });
    const both = await tenant.post(at(TEXT, "jobs"), {
      input: content,
      inputPayloadRef: ref,
      idempotencyKey,
    });
    expect(both.json.jobId).toBe(inline.json.jobId);
    const { request, receipt, sent } = await run({ inputPayloadRef: ref });
    expect(request.request.input).toEqual(content);
    expect(request.request).not.toHaveProperty("inputPayloadRef");
    expect(receipt.inputHash).toBe(sha256Hex(canonicalText(content)));
    expect(sent[0].messages).toEqual(content.messages);
    const answer = await tenant.post(at(TEXT, "invoke"), { inputPayloadRef: ref });
    expect(answer.json.status).toBe("succeeded");
    const [one, other] = [
      await tenant.post(at(TEXT, "quote"), { inputPayloadRef: ref }),
      await tenant.post(at(TEXT, "quote"), { input: content }),
    ];
    expect(one.json.pricingInputFingerprint).toBe(other.json.pricingInputFingerprint);
    expect(one.json.status).toBe("ok");
  });

  test("another input beside a reference is a conflict, and another tenant's, another kind's and unknown ones are answered alike", async () => {
    const ref = await store(say("Mine."));
    const conflict = await refused("jobs", { input: say("Other."), inputPayloadRef: ref });
    expect([conflict.status, conflict.detail[0].loc]).toEqual([422, ["body", "inputPayloadRef"]]);
    const foreign = await makeTenant();
    const theirs = (await foreign.post("/v1/payloads", say("Theirs."))).json.payloadId;
    const { result } = await run({ input });
    const sister = await call("POST", `/v1/payloads?projectId=${tenant.otherProjectId}`, {
      key: tenant.unboundKey,
      body: say("Of the other project."),
    });
    const absent = await refused("jobs", { inputPayloadRef: newId("payload") });
    expect([absent.status, absent.detail[0].loc]).toEqual([422, ["body", "inputPayloadRef"]]);
    for (const inputPayloadRef of [theirs, result.outputPayloadRef, sister.json.payloadId, "x"])
      for (const what of ["jobs", "invoke", "quote"])
        expect(await refused(what, { inputPayloadRef })).toEqual(absent);
    const bare = await refused("jobs", { inputPayloadRef: ref, prompt: "x" });
    expect(bare.detail).toMatchObject({ code: "UNKNOWN_EXECUTION_FIELD", path: "prompt" });
  });

  test("a stored input is encrypted, and cannot be referenced once it has expired", async () => {
    const ref = await store(say("A secret of mine."));
    const { rows } = await pool.query("SELECT content, is_sealed FROM payload WHERE id = $1", [ref]);
    expect(rows[0].is_sealed).toBe(true);
    expect(rows[0].content).not.toContain("secret");
    await pool.query("UPDATE payload SET expires_at = now() - interval '1 second' WHERE id = $1", [ref]);
    expect((await refused("jobs", { inputPayloadRef: ref })).detail[0].loc).toEqual([
      "body",
      "inputPayloadRef",
    ]);
  });
});

describe("data classifications", () => {
  for (const dataClassification of ["Internal", "Manuscript"])
    test(`a large request of class ${dataClassification} is stored whole, and repeats by its key`, async () => {
      const input = say(`${"Añ😀\n".repeat(20_000)}The hero dies.`);
      const body = { input, context: { dataClassification }, idempotencyKey: newId("payload") };
      const first = await tenant.post(at(TEXT, "jobs"), body);
      expect(first.status, JSON.stringify(first.json)).toBe(200);
      const { jobId } = first.json;
      expect((await tenant.post(at(TEXT, "jobs"), body)).json.jobId).toBe(jobId);
      expect((await tenant.get(`/v1/jobs/${jobId}/request`)).json.request.input).toEqual(input);
    });

  for (const context of [
    { dataClassification: "PrivateUserContent" },
    { dataClassification: "Manuscript" },
    { retentionRequirement: "EncryptedShortTerm" },
  ]) {
    test(`${Object.values(context)} is encrypted in the database and readable through the API`, async () => {
      const { job, jobId, request, result, receipt } = await run({ input: say("The hero dies."), context });
      expect(receipt).toMatchObject(context);
      expect(job.requestSnapshot.input.prompt).toBe("The hero dies.");
      expect(request.request.input).toEqual(say("The hero dies."));
      expect(result.typedOutput.content).toMatch(/\S/);
      const { rows } = await pool.query<{ content: string; is_sealed: boolean }>(
        "SELECT content, is_sealed FROM payload WHERE job_id = $1",
        [jobId],
      );
      expect(rows).toHaveLength(2);
      for (const row of rows) {
        expect(row.is_sealed).toBe(true);
        expect(row.content).not.toMatch(/hero|content|messages/);
      }
      const invoked = await tenant.post(at(TEXT, "invoke"), {
        input: say("The hero dies."),
        context,
        idempotencyKey: jobId,
      });
      const again = await tenant.post(at(TEXT, "invoke"), {
        input: say("The hero dies."),
        context,
        idempotencyKey: jobId,
      });
      expect(again.json.typedOutput).toEqual(invoked.json.typedOutput);
    });
  }

  test("content of any other class is stored unencrypted", async () => {
    for (const dataClassification of ["Public", "Internal", "Confidential"]) {
      const { jobId, receipt } = await run({ input, context: { dataClassification } });
      expect(receipt.dataClassification).toBe(dataClassification);
      const { rows } = await pool.query("SELECT is_sealed FROM payload WHERE job_id = $1", [jobId]);
      expect(rows).toEqual([{ is_sealed: false }, { is_sealed: false }]);
    }
  });
});
