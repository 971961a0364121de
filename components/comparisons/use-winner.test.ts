import { expect, test } from "vitest";
import { winnerRequest } from "./use-winner";

const here = { projectId: "cpr_1" };
const winner = { provider: "sandbox", model: "sandbox-2" };
const bound = { executionConstraints: { providerPin: "sandbox", preferredModel: "sandbox-2" } };

test("the winner's request can be sent again, pinned to the winner's provider and model", () => {
  const requestSnapshot = { input: { prompt: "A kite" }, sampling: null, idempotencyKey: "k" };
  expect(winnerRequest(here, winner, { requestSnapshot })).toEqual({
    context: here,
    input: { prompt: "A kite" },
    execution: bound,
  });
});

test("sampling of a profile is included, a prompt that repeats a message is not", () => {
  const messages = [{ role: "user", content: "Ahoy" }];
  const requestSnapshot = { input: { messages, prompt: "Ahoy" }, sampling: { reasoningIntent: "deep" } };
  expect(winnerRequest(here, winner, { requestSnapshot })).toEqual({
    context: here,
    input: { messages },
    sampling: { reasoningIntent: "deep" },
    execution: bound,
  });
});

test("a local run is not pinned, and without stored content there is no request", () => {
  const local = { provider: null, model: null };
  expect(winnerRequest(here, local, { requestSnapshot: { input: {} } })).toEqual({
    context: here,
    input: {},
  });
  expect(winnerRequest(here, winner, { requestSnapshot: { capability: "x" } })).toBeNull();
  expect(winnerRequest(here, winner, { requestSnapshot: null })).toBeNull();
});
