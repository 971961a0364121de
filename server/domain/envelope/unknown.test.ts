import { expect, test } from "vitest";
import type { RawEnvelope } from "@/server/contract/envelope";
import { type EnvelopeKind, normalizeEnvelope } from "./normalize";
import { nearest } from "./unknown";

const input = { prompt: "x" };
const send = (kind: EnvelopeKind, more: object) => () =>
  normalizeEnvelope(kind, { input, ...more } as RawEnvelope);

const CONSTRAINTS = "execution.executionConstraints.";

test.each([
  [{ execution: { maxCostUsd: 1 } }, "maxCostUsd", CONSTRAINTS],
  [{ execution: { executionConstraints: { modelPin: "x" } } }, "preferredModel", CONSTRAINTS],
  [{ max_cost: 1 }, "maxCostUsd", CONSTRAINTS],
  [{ model: "x" }, "preferredModel", CONSTRAINTS],
  [{ provider: "x" }, "providerPin", CONSTRAINTS],
  [{ timeout: 30 }, "timeoutSeconds", CONSTRAINTS],
  [{ temperature: 1 }, "temperature", "sampling."],
  [{ project_id: "x" }, "projectId", "context."],
  [{ execution: { idempotencyKey: "x" } }, "idempotencyKey", ""],
  [{ billing: "byok" }, "billingMode", "execution."],
  [{ labels: [] }, "tags", ""],
])("a name from another interface is suggested with its place: %j", (more, didYouMean, place) => {
  const details = expect.objectContaining({ didYouMean, didYouMeanPath: `${place}${didYouMean}` });
  expect(send("jobs", more)).toThrow(expect.objectContaining({ code: "UNKNOWN_EXECUTION_FIELD", details }));
});

test("a field that the request does not accept is never suggested", () => {
  const details = expect.objectContaining({ didYouMean: null, didYouMeanPath: null });
  expect(send("quote", { temperature: 1 })).toThrow(expect.objectContaining({ details }));
});

test("a suggestion is near the word, or there is none", () => {
  expect(nearest("maxCostUSD", ["maxCostUsd", "preferredModel"])).toBe("maxCostUsd");
  expect(nearest("maxcost", ["maxCostUsd"])).toBe("maxCostUsd");
  expect(nearest("colour", ["maxCostUsd", "preferredModel"])).toBeNull();
});
