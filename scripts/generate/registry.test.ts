import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeRegistries } from "./registry";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "capstan-registry-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content = "export default {};\n") {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), content);
}
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("empty folders give empty lists", () => {
  expect(writeRegistries(root)).toHaveLength(3);
  expect(read("server/providers/registry.gen.ts")).toContain("export const providers: never[] = [];");
});

test("a file with a default export is listed, in the order of names", () => {
  put("server/capabilities/text.b.v1.ts");
  put("server/capabilities/text.a.v2.ts");
  put("server/capabilities/define.ts", "export const define = 1;\n");
  put("server/capabilities/text.a.v2.test.ts");
  put("server/providers/acme.ts");
  put("server/providers/http.ts");
  put("server/providers/shared.ts", "export const shared = 1;\n");
  writeRegistries(root);
  const capabilities = read("server/capabilities/registry.gen.ts");
  expect(capabilities).toContain('import m0 from "./text.a.v2";\nimport m1 from "./text.b.v1";');
  expect(capabilities).toContain("export const capabilities = [m0, m1];");
  expect(read("server/providers/registry.gen.ts").match(/import/g)).toHaveLength(1);
});

test("nothing is written if nothing has changed", () => {
  put("inngest/functions/run.ts");
  writeRegistries(root);
  const before = statSync(join(root, "inngest/functions/registry.gen.ts")).mtimeMs;
  expect(writeRegistries(root)).toEqual([]);
  expect(statSync(join(root, "inngest/functions/registry.gen.ts")).mtimeMs).toBe(before);
  put("inngest/functions/sweep.ts");
  expect(writeRegistries(root)).toEqual([join("inngest/functions", "registry.gen.ts")]);
});
