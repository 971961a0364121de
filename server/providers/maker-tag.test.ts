import { expect, test } from "vitest";
import { hashOfMaker, type Tag, tagged, tagOf } from "./maker-tag";

const execution = "01jabcdefghjkmnpqrstvwxyz0";
const maker = hashOfMaker({ credentialId: "cred_1", provider: "openai-compatible", model: "kimi" });
const tag: Tag = { id: "call_abc", number: 1, execution, maker, reasoning: null };

test.each<[string, Partial<Tag>]>([
  ["a plain id", {}],
  ["an id that was given twice", { number: 2 }],
  ["an id of a message whose reasoning has a name", { reasoning: "reasoning" }],
  ["an id of a message whose reasoning has the other name", { reasoning: "reasoning_content", number: 12 }],
  ["an id with signs of its own", { id: "functions.get_weather:0\n_cpt_" }],
  ["an id that looks like a tagged one", { id: tagged(tag) }],
])("the tag of %s is read back unchanged", (_case, more) => {
  const written = { ...tag, ...more };
  expect(tagOf(tagged(written))).toEqual(written);
});

test.each([
  "",
  "call_abc",
  "call_abc_cpt_",
  tagged(tag).slice(0, -1),
  `${tagged(tag)}x`,
  tagged(tag).replace("_cpt_", "_cpt-1_"),
  tagged(tag).toUpperCase(),
  tagged({ ...tag, execution: "short" }),
])("the id %j has no tag", (id) => {
  expect(tagOf(id)).toBeNull();
});

test("the hash of a maker differs by connection, provider and model", () => {
  const makers = [
    { credentialId: "cred_1", provider: "openai-compatible", model: "kimi" },
    { credentialId: "cred_2", provider: "openai-compatible", model: "kimi" },
    { provider: "openai-compatible", model: "kimi" },
    { credentialId: "cred_1", provider: "openai-compatible", model: "other" },
    { credentialId: "cred_1", provider: "deepseek", model: "kimi" },
  ];
  expect(new Set(makers.map(hashOfMaker)).size).toBe(makers.length);
  expect(hashOfMaker({ provider: "openai", model: "m" })).toBe(
    hashOfMaker({ credentialId: undefined, provider: "openai", model: "m" }),
  );
});
