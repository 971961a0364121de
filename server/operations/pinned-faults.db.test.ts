import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectOpenAi } from "@/server/domain/pins/testing/patience";
import { call } from "@/testing/api";
import { SCRIPTS, type ScriptName } from "@/testing/responses-server/scripts";
import { type ResponsesServer, startResponsesServer } from "@/testing/responses-server/server";
import { makeTenant } from "@/testing/tenants";
import { SECRET, vendorAsOpenAi } from "@/testing/vault";

/*
 * A client's view of a failing vendor: one failure of each kind. server/domain/executions/outcomes.db.test.ts has all of
 * them.
 */

const PATH = "/v1/inference/pinned";
const folder = mkdtempSync(join(tmpdir(), "pinned-http-"));
let server: ResponsesServer;
let openai: Awaited<ReturnType<typeof vendorAsOpenAi>>;
beforeAll(async () => {
  openai = await vendorAsOpenAi();
  server = startResponsesServer(folder);
});
afterAll(async () => {
  await server.stop();
  await openai.close();
  rmSync(folder, { recursive: true });
});

test.each<[ScriptName, number, string | undefined, string, boolean]>([
  ["answers", 200, undefined, "attempted", false],
  ["400", 502, "ProviderRejected", "attempted", true],
  ["429 for ever", 503, "ProviderUnavailable", "attempted", true],
  ["500", 502, "PROVIDER_ERROR", "attempted", false],
  ["empty text", 502, "PROVIDER_EMPTY_OUTPUT", "attempted", false],
  ["reads everything and resets", 502, "TRANSPORT_AMBIGUOUS", "ambiguous", false],
])("%s is %i, and the same key never sends again", async (name, status, code, submission, retryable) => {
  const { organizationId, projectId, apiKey: key } = await makeTenant();
  await connectOpenAi(organizationId, projectId, await server.open(name, SCRIPTS[name]));
  const body = {
    pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" },
    input: "Name a fish.",
    limits: { admissionDeadlineSeconds: 0 },
    idempotencyKey: "once",
  };
  for (let turn = 0; turn < 2; turn++) {
    const answer = await call("POST", PATH, { key, body });
    expect([turn, answer.status, answer.json.code]).toEqual([turn, status, code]);
    const receiptId = code ? answer.json.details.receiptId : answer.json.result.receipt.receipt_id;
    if (code)
      expect(answer.json.details).toMatchObject({
        providerSubmission: submission,
        safelyRetryable: retryable,
      });
    const read = await call("GET", `${PATH}/${receiptId}`, { key });
    expect(read.json).toMatchObject({
      receiptId,
      providerSubmission: submission,
      safelyRetryable: retryable,
      attempts: [{ number: 1, submission }],
    });
    expect(answer.text + read.text).not.toContain(SECRET.slice(0, 12));
    expect(server.arrived(name)).toMatchObject([{ sha256: read.json.sentHash }]);
  }
});
