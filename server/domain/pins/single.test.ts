import { expect, test } from "vitest";
import { pool } from "@/server/db";
import * as pins from "@/server/domain/pins";
import { makeProject } from "@/testing/world";

const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };

test("a pinned request is answered with its record", async () => {
  const { ctx } = await makeProject();
  const answer = await pins.run(ctx, { pin: PIN, input: "How deep is the sea?" });
  expect(answer).toMatchObject({
    status: "succeeded",
    receipt: { pin: PIN, providerSubmission: "attempted" },
  });
  expect(await pins.get(ctx, answer.receiptId)).toEqual(answer.receipt);
  const page = await pins.list(ctx, { limit: 25 });
  expect(page.items).toHaveLength(1);
  const { rows } = await pool.query("SELECT * FROM pinned_execution WHERE id = $1", [answer.executionId]);
  expect(rows[0]).toMatchObject({ status: "succeeded" });
});
