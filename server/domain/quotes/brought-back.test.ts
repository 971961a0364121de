import { expect, test } from "vitest";
import { InputFault } from "@/server/capabilities/define";
import type { Opaque, TextCall, TextMessage, ToolCall } from "@/server/providers/define";
import { hashOfMaker, type Maker, type ReasoningName, tagged } from "@/server/providers/maker-tag";
import { forMaker, MOST_OPAQUE_BYTES } from "./brought-back";

const MAKER: Maker = { credentialId: "cred_1", provider: "openai-compatible", model: "kimi" };
const OTHERS: [string, Maker][] = [
  ["another connection", { ...MAKER, credentialId: "cred_2" }],
  ["the operator's account", { ...MAKER, credentialId: undefined }],
  ["another model", { ...MAKER, model: "other" }],
  ["another provider", { ...MAKER, provider: "deepseek" }],
];
const idOf = (id: string, { number = 1, reasoning = null as ReasoningName | null, maker = MAKER } = {}) =>
  tagged({ id, number, execution: "01jabcdefghjkmnpqrstvwxyz0", maker: hashOfMaker(maker), reasoning });
const callOf = (id: string, opaque?: Opaque): ToolCall => ({
  id,
  name: "f",
  arguments: "{}",
  ...(opaque ? { opaque } : {}),
});
type Assistant = Extract<TextMessage, { role: "assistant" }>;
const answer = (more: Partial<Assistant>): TextMessage => ({
  role: "assistant",
  content: "",
  at: 1,
  ...more,
});
const resultOf = (toolCallId: string): TextMessage => ({ role: "tool", content: "42", toolCallId });
const textCall = (...messages: TextMessage[]): TextCall => ({
  messages: [{ role: "user", content: "Hi" }, ...messages],
  responseFormat: { type: "text" },
});
const sent = (messages: TextMessage[], maker: Maker = MAKER) => {
  const { call, rewrites } = forMaker(textCall(...messages), maker);
  return { messages: call.messages.slice(1), rewrites };
};
const LEFT_OUT = [{ field: "input.messages[1].opaque", from: "opaque members", to: "left out" }];
const LOOP = [
  answer({
    id: idOf("msg_1"),
    opaque: { reasoning_content: "Hm." },
    toolCalls: [callOf(idOf("a"), { extra_content: { s: 1 } }), callOf(idOf("a", { number: 2 }))],
  }),
  resultOf(idOf("a")),
  resultOf(idOf("a", { number: 2 })),
];

test("a server gets its own members and ids back", () => {
  expect(sent(LOOP)).toEqual({
    messages: [
      {
        role: "assistant",
        content: "",
        opaque: { reasoning_content: "Hm." },
        toolCalls: [callOf("a", { extra_content: { s: 1 } }), callOf("a")],
      },
      resultOf("a"),
      resultOf("a"),
    ],
    rewrites: [],
  });
});

test.each(OTHERS)(
  "%s gets no opaque members and distinct call ids, and the omission is listed",
  (_case, maker) => {
    expect(sent(LOOP, maker)).toEqual({
      messages: [
        { role: "assistant", content: "", toolCalls: [callOf("a"), callOf("a-2")] },
        resultOf("a"),
        resultOf("a-2"),
      ],
      rewrites: LEFT_OUT,
    });
  },
);

test("calls with the same id in two turns get different ids for another server", () => {
  const [, other] = OTHERS[0]!;
  const first = idOf("call_0");
  const second = first.replace("vwxyz0_", "vwxyz1_");
  const loop = [first, second].flatMap((id) => [answer({ toolCalls: [callOf(id)] }), resultOf(id)]);
  const idsFor = (maker: Maker) =>
    sent(loop, maker).messages.map((each) =>
      each.role === "tool" ? each.toolCallId : each.role === "assistant" && each.toolCalls?.[0]?.id,
    );
  expect(idsFor(other)).toEqual(["call_0", "call_0", second, second]);
  expect(idsFor(MAKER)).toEqual(["call_0", "call_0", "call_0", "call_0"]);
});

test.each<[string, string]>([
  ["a tag with another digit", idOf("a").replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
  ["a tag of another form", `${idOf("a")}-`],
  ["no tag", "a"],
])("opaque members are left out if the id has %s", (_case, id) => {
  const opaque = { reasoning_content: "Hm." };
  const { messages, rewrites } = sent([answer({ opaque, toolCalls: [callOf(id, { s: 1 })] }), resultOf(id)]);
  expect(rewrites).toEqual(LEFT_OUT);
  expect(JSON.stringify(messages)).not.toMatch(/Hm|opaque/);
});

test("the tag of a call identifies the maker of its members", () => {
  const foreign = idOf("b", { maker: { ...MAKER, model: "other" } });
  const { messages, rewrites } = sent([
    answer({ toolCalls: [callOf(idOf("a"), { s: 1 }), callOf(foreign, { s: 2 })] }),
    resultOf(idOf("a")),
    resultOf(foreign),
  ]);
  expect(messages[0]).toEqual({
    role: "assistant",
    content: "",
    toolCalls: [callOf("a", { s: 1 }), callOf("b")],
  });
  expect(rewrites).toEqual(LEFT_OUT);
});

test("the id of a call is enough to identify the maker of the message's members", () => {
  const opaque = { reasoning_content: "Hm." };
  const { messages } = sent([answer({ opaque, toolCalls: [callOf(idOf("a"))] }), resultOf(idOf("a"))]);
  expect(messages[0]).toMatchObject({ opaque });
});

test.each<[ReasoningName | null, Opaque, Opaque]>([
  ["reasoning", { reasoning_content: "Hm." }, { reasoning: "Hm." }],
  ["reasoning_content", { reasoning: "Hm." }, { reasoning_content: "Hm." }],
  ["reasoning_content", { reasoning: "Hm.", reasoning_content: "Ah." }, { reasoning_content: "Ah." }],
  [null, { reasoning: "Hm.", reasoning_content: "Hm." }, { reasoning: "Hm.", reasoning_content: "Hm." }],
])("reasoning from a server that names it %s returns under that name: %j", (reasoning, opaque, back) => {
  const { messages } = sent([answer({ id: idOf("msg_1", { reasoning }), opaque })]);
  expect(messages[0]).toMatchObject({ opaque: back });
});

test("members of a call that a client copied to its message are not sent twice", () => {
  const extra_content = { google: { thought_signature: "s" } };
  const { messages } = sent([
    answer({ opaque: { extra_content }, toolCalls: [callOf(idOf("a"), { extra_content })] }),
    resultOf(idOf("a")),
  ]);
  expect(messages[0]).toEqual({
    role: "assistant",
    content: "",
    toolCalls: [callOf("a", { extra_content })],
  });
});

test("a copied member is left out of a message with 20,000 members and 100,000 calls", {
  timeout: 20_000,
}, () => {
  const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, 1]));
  const calls = Array.from({ length: 100_000 }, (_, at) => callOf(`a${at}`));
  const { messages } = sent([
    answer({ id: idOf("msg_1"), opaque: members, toolCalls: [callOf(idOf("a"), { m7: 1 }), ...calls] }),
  ]);
  const { m7: _, ...own } = members;
  expect(messages[0]).toMatchObject({ opaque: own });
});

test("a conversation without members or calls leaves the call unchanged", () => {
  const call = textCall({ role: "assistant", content: "Hello" }, { role: "user", content: "Bye" });
  expect(forMaker(call, MAKER).call).toBe(call);
});

const fieldOf = (messages: TextMessage[]) => {
  try {
    sent(messages);
    return null;
  } catch (cause) {
    if (cause instanceof InputFault) return cause.field;
    throw cause;
  }
};

test("the opaque members of a request may have 256 KiB in total, and one byte more is refused at its message", () => {
  const text = (bytes: number) => "x".repeat(bytes - JSON.stringify({ s: "" }).length);
  const half = MOST_OPAQUE_BYTES / 2;
  const bringing = (bytes: number) => [
    answer({ at: 1, opaque: { s: text(half) } }),
    answer({ at: 2, toolCalls: [callOf(idOf("a"), { s: text(bytes) })] }),
    resultOf(idOf("a")),
  ];
  expect(fieldOf(bringing(half))).toBeNull();
  expect(fieldOf(bringing(half + 1))).toEqual(["input", "messages", 2]);
});

test.each(["role", "content", "tool_calls", "id", "name"])("a message member named %s is refused", (name) => {
  expect(fieldOf([answer({ opaque: { [name]: "x" } })])).toEqual(["input", "messages", 1, "opaque", name]);
});

test.each(["id", "type", "function"])("a call member named %s is refused", (name) => {
  expect(fieldOf([answer({ toolCalls: [callOf("a", { [name]: "x" })] })])).toEqual([
    ...["input", "messages", 1, "toolCalls", 0, "opaque", name],
  ]);
});
