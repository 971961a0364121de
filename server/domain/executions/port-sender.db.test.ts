import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getCapability, targetsOfPort } from "@/server/domain/catalog";
import { env } from "@/server/platform/settings/env";
import { type PortAdapter, type Progress, ProviderFault, type ProviderIo } from "@/server/providers/define";
import { setSettings } from "@/testing/settings";
import { type PortCall, pollCall, streamCall, submitCall } from "./port-sender";

const HANDLE = { id: "batch_1" };

/** Work that a provider accepted, whose next poll ends as given. */
function kept(poll: () => Promise<Progress<never>>, signal = new AbortController().signal): PortCall {
  const capability = getCapability("text.general.fast.v1");
  const route = targetsOfPort(capability).find(({ provider }) => provider.name === "sandbox");
  if (!route?.provider.text) throw new Error("the sandbox serves no text");
  const text: PortAdapter<"text"> = { ...route.provider.text, poll };
  return {
    project: { id: "cpr_1", environment: "development" },
    now: () => new Date(),
    capability,
    input: { messages: [{ role: "user", content: "Hello" }] },
    route: { model: route.model, provider: { ...route.provider, text } },
    call: { messages: [{ role: "user", content: "Hello" }] } as PortCall["call"], // never sent
    material: undefined,
    estimate: { bounds: {} } as PortCall["estimate"], // no test reads the price
    executionSeconds: 60,
    executionId: "wfr_01jabcdefghjkmnpqrstvwxyz0",
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
] as const)("work whose poll ends as %s stays pending under its handle", async (kind, submission) => {
  const outcome = await pollCall(fails(kind, submission, "no"), HANDLE);
  expect(outcome).toMatchObject({ state: "pending", handle: HANDLE });
});

test("a poll that is answered with an error is sent again, and failed work is free unless it reports usage", async () => {
  const broken = fails("failed", "attempted", "no", { status: 500, concerns: "request" });
  expect(await pollCall(broken, HANDLE)).toMatchObject({ state: "pending", handle: HANDLE });
  const failure = { state: "failed", code: "PROVIDER_ERROR" };
  const plain = fails("failed", "attempted", "no", { status: 200 });
  expect(await pollCall(plain, HANDLE)).toMatchObject({ ...failure, settlement: "exposed" });
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const used = fails("failed", "attempted", "no", { status: 200, usage });
  expect(await pollCall(used, HANDLE)).toMatchObject({
    ...failure,
    settlement: "cost",
    observed: { costMicros: 150_000 },
  });
});

test("an error without usage settles the whole hold if the provider bills its errors", async () => {
  const work = fails("failed", "attempted", "no", { status: 200 });
  const provider = { ...work.route.provider, errorsAreBilled: true as const };
  const outcome = await pollCall({ ...work, route: { ...work.route, provider } }, HANDLE);
  expect(outcome).toMatchObject({ state: "failed", code: "PROVIDER_ERROR", settlement: "hold" });
});

test("a call to the sandbox has an address that is the operator's own and may be private", async () => {
  const seen: ProviderIo[] = [];
  const work = kept(() => Promise.reject(new Error("not polled")));
  const { provider } = work.route;
  const text: PortAdapter<"text"> = {
    ...provider.text!,
    submit(_call, io) {
      seen.push(io);
      throw new ProviderFault("unreachable", "not_attempted", "no");
    },
  };
  await submitCall({ ...work, route: { ...work.route, provider: { ...provider, text } } });
  expect(seen).toMatchObject([{ isOperatorsAddress: true, allowPrivateAddresses: true }]);
});

test("a poll that is refused for capacity is repeated after the delay that the provider asks for", async () => {
  const outcome = await pollCall(
    fails("capacity", "attempted", "no", { status: 429, retryAfterMs: 60_000 }),
    HANDLE,
  );
  expect(outcome).toMatchObject({ state: "pending", pollAfterMs: 60_000 });
});

test("a refused poll releases no money, because the end of the submitted work is unknown", async () => {
  const outcome = await pollCall(fails("refused", "attempted", "no", { status: 401 }), HANDLE);
  expect(outcome).toMatchObject({
    state: "failed",
    code: "TRANSPORT_AMBIGUOUS",
    settlement: "ambiguous",
    observed: { submission: "ambiguous", httpStatus: 401 },
  });
});

test("work that is refused after it was accepted is charged by the usage that the provider reports", async () => {
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

test("a poll that is stopped before it is sent reports its work as submitted", async () => {
  const controller = new AbortController();
  controller.abort("deadline");
  const stopped = new ProviderFault("unreachable", "not_attempted", "stopped");
  const outcome = await pollCall(
    kept(() => Promise.reject(stopped), controller.signal),
    HANDLE,
  );
  expect(outcome).toEqual({ state: "aborted", submission: "attempted", why: "deadline" });
});

test.each(["deadline", "canceled", "shutdown"] as const)(
  "a refusal that arrives while a %s ends the wait is still a refusal and releases the hold",
  async (why) => {
    const controller = new AbortController();
    const work = kept(() => Promise.reject(new Error("never asked")), controller.signal);
    const text = work.route.provider.text!; // the sandbox serves text
    const submit: PortAdapter<"text">["submit"] = () => {
      controller.abort(why);
      return Promise.reject(new ProviderFault("refused", "attempted", "no", { status: 400 }));
    };
    const provider = { ...work.route.provider, text: { ...text, submit } };
    const outcome = await submitCall({ ...work, route: { ...work.route, provider } });
    expect(outcome).toMatchObject({ state: "failed", kind: "refused", settlement: "released" });
  },
);

const SECRET = "sk-tests-and-nothing-else-0123456789";

/** Work on the operator's OpenAI account, whose answer arrives in these pieces. */
function streamed(pieces: string[], text = pieces.join("")): PortCall {
  const work = kept(() => Promise.reject(new Error("never asked")));
  const capability = getCapability("text.general.fast.v1");
  const route = targetsOfPort(capability).find(({ provider }) => provider.name === "openai");
  if (!route?.provider.text) throw new Error("OpenAI serves no text");
  const stream: PortAdapter<"text">["stream"] = async (_call, io, onText) => {
    expect(io.credentials.apiKey?.reveal()).toBe(SECRET);
    for (const piece of pieces) onText(piece);
    return {
      state: "done",
      result: {
        text,
        finishReason: "stop",
        toolCalls: [],
      },
      usage: null,
      providerRequestId: null,
      providerModel: null,
      httpStatus: 200,
    };
  };
  const port = { ...route.provider.text, stream };
  return {
    ...work,
    material: { shape: { kind: "text" }, messages: [] },
    route: { model: route.model, provider: { ...route.provider, text: port } },
  };
}

describe("a streamed answer that repeats the credential", () => {
  const { OPENAI_API_KEY } = env;
  beforeEach(() => {
    setSettings({ OPENAI_API_KEY: SECRET });
  });
  afterEach(() => {
    setSettings({ OPENAI_API_KEY });
  });

  test.each([1, 7, 20, 35])(
    "the credential is redacted in pieces of %i characters and in the whole answer",
    async (size) => {
      const answer = `I heard ${SECRET}, and sk-tests for short.`;
      const pieces = answer.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
      const passed: string[] = [];
      const outcome = await streamCall(streamed(pieces), (text) => void passed.push(text));
      expect(passed.join("")).toBe("I heard [redacted], and sk-tests for short.");
      expect(outcome.state, JSON.stringify(outcome)).toBe("succeeded");
      expect(JSON.stringify(outcome)).not.toContain(SECRET.slice(3, 15));
      expect(JSON.stringify(outcome)).toContain("I heard [redacted], and");
    },
  );

  test("the answer still fails if its final text differs from the streamed text", async () => {
    const outcome = await streamCall(streamed(["I heard ", SECRET], "I heard nothing"), () => {});
    expect(outcome).toMatchObject({ state: "failed", code: "PROVIDER_ERROR" });
  });
});

test.each(["failed", "refused", "capacity", "lost"] as const)(
  "a stream that breaks off as %s after its first words is ambiguous",
  async (kind) => {
    const work = kept(() => Promise.reject(new Error("never asked")));
    const text = work.route.provider.text!; // the sandbox serves text
    const stream: PortAdapter<"text">["stream"] = (_call, _io, onText) => {
      onText("Eleven ");
      return Promise.reject(new ProviderFault(kind, "attempted", "no", { status: 200 }));
    };
    const provider = { ...work.route.provider, text: { ...text, stream } };
    const outcome = await streamCall({ ...work, route: { ...work.route, provider } }, () => {});
    expect(outcome).toMatchObject({
      state: "failed",
      code: "TRANSPORT_AMBIGUOUS",
      settlement: "ambiguous",
      observed: { submission: "ambiguous" },
    });
  },
);
