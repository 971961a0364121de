import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, makeTenant } from "@/testing/api";

/* Tests the commands of docs/start/first-tasks.md that compute something themselves. */

const directory = mkdtempSync(join(tmpdir(), "capstan-first-tasks-"));
afterAll(() => rmSync(directory, { recursive: true }));

const PAGE = readFileSync("docs/start/first-tasks.md", "utf8");
const [, VERIFY = ""] = /^node -e '(const \{ createHash[^']*)'$/m.exec(PAGE) ?? [];

let record: Record<string, unknown>;
beforeAll(async () => {
  const tenant = await makeTenant();
  const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
  const made = await tenant.post("/v1/inference/pinned", { pin, input: "How deep is the sea?" });
  record = (await tenant.get(`/v1/inference/pinned/${made.json.receiptId}`)).json;
  const { text } = await call("GET", "/.well-known/jwks.json");
  writeFileSync(join(directory, "jwks.json"), text);
});

/** The output of the page's command for a record: whether its hash, its signature and the hash of its output are right. */
function verdictOn(document: object): string {
  writeFileSync(join(directory, "record.json"), JSON.stringify(document));
  return execFileSync(process.execPath, ["-e", VERIFY], { cwd: directory, encoding: "utf8" }).trim();
}

test("the verification of the first tasks accepts a record, and detects another output than the sealed one", () => {
  expect(verdictOn(record)).toBe("true true true");
  const output = { ...(record.output as object), text: "Another answer" };
  expect(verdictOn({ ...record, output })).toBe("true true false");
  expect(verdictOn({ ...record, status: "failed" })).toBe("false false true");
});
