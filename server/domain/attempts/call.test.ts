import { expect, test } from "vitest";
import { getCapability, targetsOf } from "@/server/domain/catalog";
import { type PortAdapter, type Progress, ProviderFault } from "@/server/providers/define";
import { pollCall, type Work } from "./call";

const HANDLE = { id: "batch_1" };

/** Work that a provider keeps, whose next poll ends as told. */
function kept(poll: () => Promise<Progress<never>>, signal = new AbortController().signal): Work {
  const capability = getCapability("text.general.fast.v1");
  const route = targetsOf(capability).find(({ provider }) => provider.name === "sandbox");
  if (!route?.provider.text) throw new Error("the sandbox serves no text");
  const text: PortAdapter<"text"> = { ...route.provider.text, poll };
  return {
    project: { id: "cpr_1", environment: "development" },
    now: () => new Date(),
    capability,
    input: { messages: [{ role: "user", content: "Hello" }] },
    route: { model: route.model, provider: { ...route.provider, text } },
    call: { messages: [{ role: "user", content: "Hello" }] } as Work["call"], // never sent
    material: undefined,
    estimate: { bounds: {} } as Work["estimate"], // no price is asked for
    executionSeconds: 60,
    attemptId: "att_1",
    tier: "standard",
    signal,
  };
}

const fails = (...args: ConstructorParameters<typeof ProviderFault>) =>
  kept(() => Promise.reject(new ProviderFault(...args)));

test.each([
  ["capacity", "attempted"],
  ["unreachable", "not_attempted"],
  ["lost", "ambiguous"],
] as const)(
  "a poll that is %s says nothing about the work: it is asked again later",
  async (kind, submission) => {
    const outcome = await pollCall(fails(kind, submission, "no"), HANDLE);
    expect(outcome).toMatchObject({ state: "pending", handle: HANDLE });
  },
);

test("a poll waits as long as the provider says", async () => {
  const outcome = await pollCall(
    fails("capacity", "attempted", "no", { status: 429, retryAfterMs: 60_000 }),
    HANDLE,
  );
  expect(outcome).toMatchObject({ state: "pending", pollAfterMs: 60_000 });
});

test("a refused poll gives no money back: the work was submitted and nobody knows its end", async () => {
  const outcome = await pollCall(fails("refused", "attempted", "no", { status: 401 }), HANDLE);
  expect(outcome).toMatchObject({
    state: "failed",
    code: "TRANSPORT_AMBIGUOUS",
    settlement: "ambiguous",
    observed: { submission: "ambiguous", httpStatus: 401 },
  });
});

test("work that is refused after it was taken costs what the provider says it used", async () => {
  const used = { inputTokens: 1_000_000, outputTokens: 0 };
  for (const [usage, costMicros] of [
    [used, 150_000],
    [{ inputTokens: 0, outputTokens: 0 }, 0],
  ] as const) {
    const outcome = await pollCall(fails("refused", "attempted", "unfit", { status: 200, usage }), HANDLE);
    expect(outcome).toMatchObject({
      state: "failed",
      code: "ProviderRejected",
      message: "unfit",
      settlement: "cost",
      observed: { submission: "attempted", costMicros },
    });
  }
});

test("a poll that is stopped before it is sent still belongs to work that was submitted", async () => {
  const controller = new AbortController();
  controller.abort("deadline");
  const stopped = new ProviderFault("unreachable", "not_attempted", "stopped");
  const outcome = await pollCall(
    kept(() => Promise.reject(stopped), controller.signal),
    HANDLE,
  );
  expect(outcome).toEqual({ state: "aborted", submission: "attempted", why: "deadline" });
});
