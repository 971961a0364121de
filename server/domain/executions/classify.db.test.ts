import { expect, test } from "vitest";
import { ProviderFault } from "@/server/providers/define";
import provider from "@/server/providers/openai";
import { type CallTerms, classify } from "./classify";

const stopped = new AbortController();
stopped.abort("canceled");
const call: CallTerms = {
  route: { provider, model: provider.models[0]! },
  account: "operator",
  open: async () => null,
  bounds: {},
  asked: null,
  attemptId: "att_1",
  tier: "standard",
  signal: stopped.signal,
  now: () => new Date(),
};

test("a definite refusal counts even if the wait was aborted at the same moment; any other error reports the abort", () => {
  const outcomeOf = (...args: ConstructorParameters<typeof ProviderFault>) =>
    classify(new ProviderFault(...args), call);
  expect(outcomeOf("refused", "attempted", "no")).toMatchObject({ state: "failed", kind: "refused" });
  expect(outcomeOf("capacity", "attempted", "no")).toMatchObject({ state: "retryable" });
  const ended = { state: "aborted", why: "canceled" };
  expect(outcomeOf("lost", "ambiguous", "no")).toEqual({ ...ended, submission: "ambiguous" });
  expect(outcomeOf("unreachable", "not_attempted", "no")).toEqual({ ...ended, submission: "not_attempted" });
  expect(classify(new Error("a bug"), call)).toEqual({ ...ended, submission: "ambiguous" });
});
