import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/* Tests the types that anyone gets from docs/openapi.json with openapi-typescript and its default options. */

const folder = mkdtempSync(join(tmpdir(), "capstan-types-"));
const modules = resolve("node_modules");

beforeAll(() => {
  symlinkSync(modules, join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const generator = join(modules, "openapi-typescript/bin/cli.js");
  const options = ["--import", resolve("clients/typescript/scripts/use-compiler.mjs"), generator];
  execFileSync(process.execPath, [...options, "docs/openapi.json", "-o", join(folder, "api.ts")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The compiler's errors about a file of the folder. */
function compile(file: string): string {
  const options = ["--strict", "--noEmit", "--target", "es2023", "--module", "nodenext"];
  const tsc = join(modules, "typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, ...options, file], { cwd: folder, encoding: "utf8" }).stdout;
}

test("the generated types compile as a TypeScript source file under strict", () => {
  expect(compile("api.ts")).toBe("");
});

test("operations that can also stream keep the type of their JSON in openapi-fetch", { tags: "long" }, () => {
  writeFileSync(
    join(folder, "use.ts"),
    `import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";
type Schemas = components["schemas"];
type Is<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const client = createClient<paths>();
const path = { job_id: "", execution_id: "", capability_key: "" };
const invoke = await client.POST("/v1/capabilities/{capability_key}/invoke", { params: { path }, body: {} });
const events = await client.GET("/v1/jobs/{job_id}/events", { params: { path } });
const frames = await client.GET("/v1/executions/{execution_id}/events", { params: { path } });
type Answer<P extends "/v1/chat/completions" | "/v1/responses"> =
  paths[P]["post"]["responses"][200]["content"];
export const types: [
  Is<NonNullable<typeof invoke.data>, Schemas["InvocationResult"] | string>,
  Is<Exclude<typeof events.data, string | undefined>, { events: Schemas["JobEvent"][]; nextCursor?: string }>,
  Is<NonNullable<typeof frames.data>, string>,
  Is<Answer<"/v1/chat/completions">["text/event-stream"], string>,
  Is<Answer<"/v1/responses">["text/event-stream"], string>,
] = [true, true, true, true, true];
`,
  );
  expect(compile("use.ts")).toBe("");
});
