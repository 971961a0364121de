import { expect, test } from "vitest";
import { admitOnce } from "./idempotency";
import { spellingsOf } from "./key-spellings";

const FIRST = { id: "job_1", hash: "v1:a", spelling: "k", environment: "staging" };
const asked = { key: { key: "k" }, hash: "v1:a", environment: "staging" };
const OTHER = { ...FIRST, id: "job_0", environment: "production" };
const refused = () => Promise.reject(new Error("refused now"));

test("a key that belongs to a resource returns it, and nothing is admitted", async () => {
  const admitted = await admitOnce(
    asked,
    async () => [FIRST],
    () => refused(),
  );
  expect(admitted).toEqual({ first: FIRST });
});

test.each([
  ["v1:a", "a"],
  ["a", "v1:a"],
])("a request stored with the hash %s and one with %s are the same", async (stored, hash) => {
  const first = { ...FIRST, hash: stored };
  expect(await admitOnce({ ...asked, hash }, async () => [first], refused)).toEqual({ first });
});

test("another request under the key is a conflict that names the first resource", async () => {
  const conflict = admitOnce({ ...asked, hash: "v1:b", what: "bulk" }, async () => [FIRST], refused);
  const cause = await conflict.catch((error) => error);
  expect(cause).toMatchObject({ code: "IdempotencyConflict", details: { jobId: "job_1" } });
  expect(cause.message).toMatch(/^This idempotency key was already used for a different bulk\./);
});

test("a resource that was admitted meanwhile is returned, whether the key was taken or the request is now refused", async () => {
  for (const admit of [async () => null, refused]) {
    let looked = 0;
    const admitted = await admitOnce(asked, async () => (looked++ === 0 ? [] : [FIRST]), admit);
    expect(admitted).toEqual({ first: FIRST });
  }
});

test("a refusal with a free key stays a refusal, and a request without a key looks nothing up", async () => {
  await expect(admitOnce(asked, async () => [], refused)).rejects.toThrow("refused now");
  const find = () => Promise.reject(new Error("looked"));
  expect(await admitOnce({ ...asked, key: null }, find, async () => 1)).toEqual({ fresh: 1 });
});

test("a key that another environment has is admitted under the spelling of the request's environment, even if it was taken meanwhile", async () => {
  const [plain, own] = spellingsOf(asked.key, asked.environment);
  for (const isTaken of [true, false]) {
    const tried: (string | null)[] = [];
    const admit = async (spelling: string | null) => {
      tried.push(spelling);
      return spelling === own ? "fresh" : null;
    };
    const find = async () => (isTaken || tried.length > 0 ? [OTHER] : []);
    expect(await admitOnce(asked, find, admit)).toEqual({ fresh: "fresh" });
    expect(tried).toEqual(isTaken ? [own] : [plain, own]);
  }
});

test("a row of another environment is never returned, and a spelling that stays taken is an error", async () => {
  await expect(admitOnce(asked, async () => [OTHER], refused)).rejects.toThrow("refused now");
  await expect(
    admitOnce(
      asked,
      async () => [OTHER],
      async () => null,
    ),
  ).rejects.toThrow("does not exist");
});
