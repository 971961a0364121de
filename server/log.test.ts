import pino from "pino";
import { expect, test } from "vitest";
import { pool } from "@/server/db";
import { logOptions } from "./log";

test("a row that the database refused is not written into the log with the refusal", async () => {
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
