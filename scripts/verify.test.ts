import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closeDatabase } from "@/server/db";
import * as jobs from "@/server/domain/jobs";
import { publicKeys } from "@/server/domain/signing";
import { makeProject } from "@/testing/world";
import { runVerify } from "./verify-command";

const directory = mkdtempSync(join(tmpdir(), "capstan-verify-"));
const at = (name: string) => join(directory, name);
let receipt: Record<string, unknown>;

beforeAll(async () => {
  const { ctx } = await makeProject();
  const { executionId } = await jobs.invoke(ctx, "compute.evaluate.v1", { expression: "2 ^ 0.5" });
  receipt = { ...(await jobs.receipt(ctx, executionId)) };
  writeFileSync(at("receipt.json"), JSON.stringify(receipt, null, 2));
  writeFileSync(at("jwks.json"), JSON.stringify(await publicKeys()));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await closeDatabase();
});

test("a receipt as it was answered is verified with a saved key set", async () => {
  const { code, out, error } = await runVerify([at("receipt.json"), "--jwks", at("jwks.json")]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  for (const check of ["receipt_form", "hash_matches", "key_known", "signature_valid"]) {
    expect(out).toMatch(new RegExp(`^ok +${check} `, "m"));
  }
  expect(out).toContain(`${receipt.receiptId} is what was sealed.`);
});

test("one changed figure is told, and ends with 1", async () => {
  const text = readFileSync(at("receipt.json"), "utf8");
  writeFileSync(at("changed.json"), text.replace('"actualCost": 0', '"actualCost": 1'));
  const { code, out } = await runVerify([at("changed.json"), "--jwks", at("jwks.json"), "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    verified: false,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: "hash_matches", ok: false }),
      expect.objectContaining({ name: "signature_valid", ok: false }),
    ]),
  });
});

test("the keys can be read where they are published", async () => {
  const server = createServer((_request, response) => response.end(readFileSync(at("jwks.json"))));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  const { code } = await runVerify([at("receipt.json"), "--jwks", `http://127.0.0.1:${port}/`]);
  server.close();
  expect(code).toBe(0);
});

test("what cannot be checked ends with 2 and a sentence", async () => {
  writeFileSync(at("twice.json"), JSON.stringify(receipt).replace("{", '{"status":"succeeded",'));
  for (const args of [
    [],
    [at("missing.json"), "--jwks", at("jwks.json")],
    [at("twice.json"), "--jwks", at("jwks.json")],
    [at("receipt.json"), "--jwks", at("receipt.json")],
    [at("receipt.json"), "--jwks", "http://127.0.0.1:1/"],
    [at("receipt.json"), "--unknown"],
  ]) {
    const { code, out, error } = await runVerify(args);
    expect({ args, code, out }).toEqual({ args, code: 2, out: "" });
    expect(error).toMatch(/\S/);
  }
});

test("the ten lines of the documentation say the same, with nothing of ours", () => {
  const page = readFileSync("docs/receipts.md", "utf8");
  const [, lines] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  expect(lines).toBeDefined();
  writeFileSync(at("by-hand.mjs"), lines ?? "");
  const run = () => spawnSync(process.execPath, ["by-hand.mjs"], { cwd: directory, encoding: "utf8" });
  expect(run()).toMatchObject({ status: 0, stdout: "true\n" });
  const whole = readFileSync(at("receipt.json"), "utf8");
  writeFileSync(at("receipt.json"), whole.replace('"succeeded"', '"failed"'));
  expect(run()).toMatchObject({ status: 0, stdout: "false\n" });
  writeFileSync(at("receipt.json"), whole);
});

test("the command itself runs without a server or a database", () => {
  const env = {
    NODE_ENV: "test" as const,
    PATH: process.env.PATH ?? "",
    DATABASE_URL: "postgres://127.0.0.1:1/none",
  };
  const args = ["tsx", "scripts/verify.ts", at("receipt.json"), "--jwks", at("jwks.json")];
  const { status, stdout, stderr } = spawnSync("npx", args, { env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("is what was sealed.");
}, 60_000);
