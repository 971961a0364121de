import { expect, test } from "vitest";
import type { TextChoice, ToolCall } from "@/server/providers/define";
import { hashOfMaker, tagOf } from "@/server/providers/maker-tag";
import { withOwnIds } from "./own-ids";

const EXECUTION = "wfr_01jabcdefghjkmnpqrstvwxyz0";
const MAKER = { credentialId: "cred_1", provider: "openai-compatible", model: "kimi" };
const callOf = (id: string, more: Partial<ToolCall> = {}): ToolCall => ({
  id,
  name: "f",
  arguments: "{}",
  ...more,
});
const given = (more: Partial<TextChoice>): TextChoice =>
  withOwnIds({ text: "", finishReason: "stop", toolCalls: [], ...more }, EXECUTION, MAKER);
const tagsOf = ({ toolCalls }: TextChoice) => toolCalls.map(({ id }) => tagOf(id));

test("an answer without opaque members or shared ids keeps its server's ids", () => {
  const toolCalls = [callOf("a"), callOf("b"), callOf(""), callOf("")];
  const answer = given({ toolCalls });
  expect(answer.toolCalls).toEqual(toolCalls);
  expect(answer.id).toBeUndefined();
});

test("opaque members of the message are named by the message id and the ids of all its calls", () => {
  const answer = given({ opaque: { reasoning: "Hm." }, toolCalls: [callOf("a"), callOf("")] });
  const maker = hashOfMaker(MAKER);
  const tag = { maker, execution: EXECUTION.slice(4), reasoning: "reasoning", number: 1 };
  expect(tagOf(answer.id ?? "")).toEqual({ ...tag, id: `msg_${tag.execution}` });
  expect(tagsOf(answer)).toEqual([
    { ...tag, id: "a" },
    { ...tag, id: `call_${tag.execution}_1` },
  ]);
});

test("opaque members of one call are named by the ids of all calls, and the message has no id", () => {
  const answer = given({ toolCalls: [callOf("a", { opaque: { extra_content: { x: 1 } } }), callOf("b")] });
  expect(answer.id).toBeUndefined();
  expect(tagsOf(answer).map((tag) => tag?.id)).toEqual(["a", "b"]);
});

test("calls with the same id are distinguished, and the first keeps it", () => {
  const answer = given({ toolCalls: [callOf("a"), callOf("a"), callOf("b"), callOf("a")] });
  expect(answer.toolCalls[0]?.id).toBe("a");
  expect(tagsOf(answer).map((tag) => tag && [tag.id, tag.number])).toEqual([null, ["a", 2], null, ["a", 3]]);
  expect(new Set(answer.toolCalls.map(({ id }) => id)).size).toBe(4);
});

test("reasoning under both member names is tagged with neither name", () => {
  const answer = given({ opaque: { reasoning: "a", reasoning_content: "a" }, toolCalls: [callOf("a")] });
  expect(tagsOf(answer)[0]?.reasoning).toBeNull();
});

test("9,000 calls with one id are numbered, and 200,000 are all returned within 20 seconds", {
  timeout: 20_000,
}, () => {
  const toolCalls = Array.from({ length: 200_000 }, () => callOf("a"));
  expect(tagOf(given({ toolCalls: toolCalls.slice(0, 9_000) }).toolCalls.at(-1)?.id ?? "")?.number).toBe(
    9_000,
  );
  expect(given({ toolCalls }).toolCalls).toHaveLength(200_000);
});
