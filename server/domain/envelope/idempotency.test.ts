import { expect, test } from "vitest";
import { admitOnce } from "./idempotency";

const FIRST = { id: "job_1", hash: "v1:a" };
const asked = { key: "k", hash: "v1:a" };
const refused = () => Promise.reject(new Error("refused now"));

test("a key that belongs to something is answered with it, and nothing is admitted", async () => {
  const admitted = await admitOnce(
    asked,
    async () => FIRST,
    () => refused(),
  );
  expect(admitted).toEqual({ first: FIRST });
});

test("another request under the key is a conflict that names the first one", async () => {
  const conflict = admitOnce({ ...asked, hash: "v1:b", what: "bulk" }, async () => FIRST, refused);
  const cause = await conflict.catch((error) => error);
  expect(cause).toMatchObject({ code: "IdempotencyConflict", details: { jobId: "job_1" } });
  expect(cause.message).toMatch(/^This idempotency key was already used for a different bulk\./);
});

test("what was admitted meanwhile is answered, whether the key was taken or the request is refused now", async () => {
  for (const admit of [async () => null, refused]) {
    let looked = 0;
    const admitted = await admitOnce(asked, async () => (looked++ === 0 ? null : FIRST), admit);
    expect(admitted).toEqual({ first: FIRST });
  }
});

test("a refusal stays one where the key is free, and without a key nothing is looked for", async () => {
  await expect(admitOnce(asked, async () => null, refused)).rejects.toThrow("refused now");
  const find = () => Promise.reject(new Error("looked"));
  expect(await admitOnce({ key: null, hash: "v1:a" }, find, async () => 1)).toEqual({ fresh: 1 });
});
