import { expect, test } from "vitest";
import { ERRORS, Fault } from "@/server/platform/errors/errors";
import { type ErrorHead, toWire } from "@/server/platform/errors/errors-wire";
import { publicUrl } from "@/server/platform/settings/env";
import { pagesUnder } from "@/testing/docs";
import { incoming, jsonOf } from "@/testing/requests";
import { docsAnswer, isDocsPath } from "./docs";

const get = (path: string, headers: Record<string, string> = {}) => docsAnswer(incoming({ path, headers }));

test.each(Object.keys(ERRORS) as (keyof typeof ERRORS)[])("the docsUrl of %s is served", async (code) => {
  const { docsUrl } = toWire(new Fault(code, "No.", {}), "req_1").body as ErrorHead;
  expect(docsUrl.startsWith(`${publicUrl}/docs/`)).toBe(true);
  const path = new URL(docsUrl).pathname;
  expect(isDocsPath(path)).toBe(true);
  const { status, headers, body } = await get(path);
  expect([status, headers["content-type"]]).toEqual([200, "text/markdown; charset=utf-8"]);
  expect(body).toContain(`# ${code}\n`);
  // Status, what happened and what to do next: never an empty section.
  expect(String(body)).toMatch(new RegExp(`## HTTP\\n\\n${ERRORS[code].status}\\b`));
  expect(String(body)).toMatch(/## What happened( and why)?\n\n\S.+/);
  expect(String(body)).toMatch(/## What to do next\n\n\S.+|fix the expression/);
});

test("every page of docs/ is served unchanged, with an ETag, and is in the index", async () => {
  const pages = pagesUnder("docs");
  expect(pages.length).toBeGreaterThan(40);
  const index = String((await get("/docs/index.md")).body);
  for (const { path, text } of pages) {
    const answer = await get(`/${path}`);
    expect([answer.status, answer.body], path).toEqual([200, text]);
    expect(index).toContain(`](${path.slice("docs/".length)})`);
    expect(await get(`/${path}`, { "if-none-match": answer.headers.etag ?? "" })).toMatchObject({
      status: 304,
    });
  }
});

test("links of an error's page lead to existing pages", async () => {
  for (const code of Object.keys(ERRORS)) {
    const address = `${publicUrl}/docs/errors/${code}.md`;
    const { body } = await get(new URL(address).pathname);
    for (const [, target = ""] of String(body).matchAll(/\]\(([^)]+)\)/g)) {
      const { status } = await get(new URL(target, address).pathname);
      expect(status, `${code}: ${target}`).toBe(200);
    }
  }
});

test("paths that are not pages of docs/ are not served", async () => {
  for (const path of [
    "/docs/nothing.md",
    "/docs/../README.md",
    "/docs/%2e%2e/README.md",
    "/docs/./concepts.md",
  ]) {
    const answer = await get(path);
    expect([answer.status, jsonOf(answer).code], path).toEqual([404, "NotFound"]);
  }
});
