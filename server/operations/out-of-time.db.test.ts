import { expect, test } from "vitest";
import { getCapability } from "@/server/domain/catalog";
import { OutOfTime } from "@/server/platform/threads/threads";
import { makeTenant } from "@/testing/api";
import { rowsOf } from "@/testing/world";

const TARGET = "/v1/capabilities/compute.evaluate.v1/invoke";
const body = { input: { expression: "1 + 1" } };

test("work that a busy machine cannot finish in time is 503 and retryable, costs nothing, and blames no input", async () => {
  const tenant = await makeTenant();
  const { execute } = getCapability("compute.evaluate.v1");
  if (!("local" in execute)) throw new Error("expressions are evaluated here");
  const { run } = execute;
  execute.run = () =>
    Promise.reject(new OutOfTime("The evaluation was stopped because it took too long here."));
  try {
    const { status, json, headers } = await tenant.post(TARGET, body);
    expect([status, json.code]).toEqual([503, "ServiceUnavailable"]);
    expect(json.detail).toMatchObject({ retryable: true, retryAfterSeconds: 2 });
    expect(headers["retry-after"]).toBe("2");
    expect(json.message).toContain("Nothing was charged. Retry the request.");
    expect(JSON.stringify(json)).not.toMatch(/invalid|expression|complexity/i);
    const { json: listed } = await tenant.get("/v1/jobs");
    const { ledger } = await rowsOf(listed.items[0].jobId);
    expect(ledger.filter(({ amount_micros }) => Number(amount_micros) !== 0)).toEqual([]);
  } finally {
    execute.run = run;
  }
  const again = await tenant.post(TARGET, body);
  expect([again.status, again.json.typedOutput.result]).toEqual([200, "2"]);
});
