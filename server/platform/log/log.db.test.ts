import pino from "pino";
import { expect, test } from "vitest";
import { makeKeyText } from "@/server/domain/access";
import { pool } from "@/server/platform/db";
import { logOptions } from "./log";

test("a row that the database refused is not logged with the refusal", async () => {
  const lines: string[] = [];
  const log = pino({ ...logOptions, level: "error" }, { write: (line) => void lines.push(line) });
  const refusal = await pool
    .query("INSERT INTO organization (id, display_name) VALUES ('a secret plan', NULL)")
    .catch((cause) => cause);
  expect(refusal.detail).toContain("a secret plan");
  log.error({ err: refusal, caller: { password: "opensesame" } }, "refused");
  expect(lines.join("")).toContain("refused");
  expect(lines.join("")).not.toMatch(/a secret plan|opensesame/);
});

test("a key in a foreign error is not logged with it", () => {
  const lines: string[] = [];
  const log = pino({ ...logOptions, level: "error" }, { write: (line) => void lines.push(line) });
  const key = makeKeyText("development");
  log.child({ path: `/v1/jobs/${key}` }).error({ err: new Error(`no such job: ${key}`) }, `lost ${key}`);
  const line = lines.join("");
  expect(JSON.parse(line).err.message).toBe("no such job: [redacted]");
  for (const piece of [key.slice(0, 24), key.slice(-20)]) expect(line).not.toContain(piece);
});
