import { afterAll, beforeAll, expect, test } from "vitest";
import openaiCompatible, { modelsFromSetting } from "../openai-compatible";
import type { RequestRules } from "../request-rules";
import { hello } from "../testing/calls";
import { caughtFault, ioFor, type Script, startVendor, type Vendor } from "../testing/vendor";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

const provider = { ...openaiCompatible, models: modelsFromSetting("acme:1:2") };
const call = { ...hello, maxOutputTokens: 100 };
const refuses = (member: string, status = 400): Script => ({
  status,
  json: { error: { message: `Unsupported parameter: '${member}'`, code: "unsupported_parameter" } },
});
const answers: Script = { json: { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] } };
const streams: Script = {
  headers: { "content-type": "text/event-stream" },
  text: `data: ${JSON.stringify({ choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
};

/** Sends one call to a server with these answers; returns the members it received and the rules learned. */
async function sendTo(
  scripts: Script[],
  { rules, isStream = false }: { rules?: RequestRules; isStream?: boolean } = {},
) {
  vendor.answer(...scripts);
  const learned: RequestRules[] = [];
  const io = {
    ...ioFor(provider, "acme", "text", { baseUrl: vendor.url }),
    ...(rules ? { rules } : {}),
    async learn(found: RequestRules) {
      learned.push(found);
    },
  };
  const text = provider.text!;
  const sent = isStream ? text.stream!(call, io, () => {}) : text.submit(call, io);
  const outcome = await sent.then(
    () => null,
    () => caughtFault(sent),
  );
  const bodies = vendor.arrived.map(({ body }) => JSON.parse(body));
  const members = bodies.map((body) =>
    ["max_tokens", "max_completion_tokens", "stream_options"].filter((name) => name in body),
  );
  return { outcome, learned, members, bodies };
}

test("a refused limit is sent again under its other name, which is learned", async () => {
  const { outcome, learned, members, bodies } = await sendTo([refuses("max_tokens"), answers]);
  expect(outcome).toBeNull();
  expect(members).toEqual([["max_tokens"], ["max_completion_tokens"]]);
  expect(bodies[1].max_completion_tokens).toBe(100);
  expect(learned).toEqual([{ outputLimit: "max_completion_tokens" }]);
});

test("a learned rule applies to the first request and is not learned again", async () => {
  const { learned, members } = await sendTo([answers], { rules: { outputLimit: "max_completion_tokens" } });
  expect(members).toEqual([["max_completion_tokens"]]);
  expect(learned).toEqual([]);
});

test("a server that accepts the older name again replaces the learned rule", async () => {
  const { outcome, learned, members } = await sendTo([refuses("max_completion_tokens", 422), answers], {
    rules: { outputLimit: "max_completion_tokens" },
  });
  expect(outcome).toBeNull();
  expect(members).toEqual([["max_completion_tokens"], ["max_tokens"]]);
  expect(learned).toEqual([{ outputLimit: "max_tokens" }]);
});

test("a server that refuses both names ends the call after one try each, and nothing is learned", async () => {
  const { outcome, learned, members } = await sendTo([
    refuses("max_tokens"),
    refuses("max_completion_tokens"),
    answers,
  ]);
  expect(outcome).toMatchObject({ kind: "refused", submission: "attempted" });
  expect(members).toEqual([["max_tokens"], ["max_completion_tokens"]]);
  expect(learned).toEqual([]);
});

test("a stream refused for stream_options is sent again without them", async () => {
  const { outcome, learned, members } = await sendTo([refuses("stream_options", 422), streams], {
    isStream: true,
  });
  expect(outcome).toBeNull();
  expect(members).toEqual([["max_tokens", "stream_options"], ["max_tokens"]]);
  expect(learned).toEqual([{ streamOptions: false }]);
});

test("a server can refuse two members one after the other, and both rules are learned", async () => {
  const { outcome, learned, members } = await sendTo(
    [refuses("max_tokens"), refuses("stream_options"), streams],
    { isStream: true },
  );
  expect(outcome).toBeNull();
  expect(members.at(-1)).toEqual(["max_completion_tokens"]);
  expect(learned).toEqual([{ outputLimit: "max_completion_tokens", streamOptions: false }]);
});

test("a refused member in an error with status 200 is replaced as well", async () => {
  const said = { error: { message: "Unsupported parameter: 'max_tokens'", code: 400 } };
  const whole = await sendTo([{ json: said }, answers]);
  expect([whole.outcome, whole.learned]).toEqual([null, [{ outputLimit: "max_completion_tokens" }]]);
  const event = {
    headers: { "content-type": "text/event-stream" },
    text: `data: ${JSON.stringify(said)}\n\n`,
  };
  const streamed = await sendTo([event, streams], { isStream: true });
  expect([streamed.outcome, streamed.learned]).toEqual([null, [{ outputLimit: "max_completion_tokens" }]]);
});

test.each<[string, Script, string]>([
  ["a value", { status: 400, json: { error: { message: "max_tokens is too large" } } }, "refused"],
  ["a member that was not sent", refuses("stream_options"), "refused"],
  ["the key", { ...(refuses("max_tokens") as object), status: 401 }, "refused"],
  ["a full server", { ...(refuses("max_tokens") as object), status: 429 }, "capacity"],
  ["a server that failed", { ...(refuses("max_tokens") as object), status: 500 }, "failed"],
  ["a connection that is lost", "reset", "lost"],
])("nothing is sent again for %s", async (_what, script, kind) => {
  const { outcome, learned, members } = await sendTo([script, answers]);
  expect(outcome?.kind).toBe(kind);
  expect(members).toEqual([["max_tokens"]]);
  expect(learned).toEqual([]);
});

test("a lost second request ends the call as lost", async () => {
  const { outcome, learned, members } = await sendTo([refuses("max_tokens"), "reset"]);
  expect(outcome).toMatchObject({ kind: "lost", submission: "ambiguous" });
  expect(members).toHaveLength(2);
  expect(learned).toEqual([]);
});
