import { expect, test } from "vitest";
import { addressOf, docsPages, htmlOf, pageAt, searchDocs } from "./docs-pages";

const named = async (address: string) => {
  const page = await pageAt(address);
  if (!page) throw new Error(`there is no page ${address}`);
  return htmlOf(page.name, page.text);
};

test("every page is HTML with one title, and its links lead to existing pages and headings", async () => {
  const pages = await docsPages();
  const html = new Map([...pages].map(([name, text]) => [addressOf(name), htmlOf(name, text)]));
  for (const [address, text] of html) {
    expect(text.match(/<h1 /g)?.length, address).toBe(1);
    for (const [, href = ""] of text.matchAll(/<a href="([^"]+)"/g)) {
      if (!/^(\/docs\/|#)/.test(href) || href.endsWith(".md")) continue;
      const [path, anchor] = href.split("#");
      const target = path === "" ? text : html.get(path ?? "");
      expect(target, `${address}: ${href}`).toBeDefined();
      if (anchor) expect(target, `${address}: ${href}`).toContain(`id="${decodeURI(anchor)}"`);
    }
  }
});

test("a link to a file of the repository becomes plain words, code is escaped, and a table can get the keyboard focus", () => {
  const html = htmlOf(
    "guides/a.md",
    "# A\n[law](../../server/laws) [b](b.md#c)\n\n```sh\na < b\n```\n\n| x |\n|-|\n| y |\n",
  );
  expect(html).toContain('law <a href="/docs/guides/b#c">b</a>');
  expect(html).toContain("<code>a &lt; b</code>");
  expect(html).toContain('<div tabindex="0"><table>');
});

test("headings with the same name have different anchors", () => {
  expect(htmlOf("a.md", "## One `x`\n\n## One `x`\n")).toMatch(/id="one-x".*id="one-x-1"/s);
});

test("the first page is at /docs/index, and files that are not pages are not served", async () => {
  expect(await named("index")).toContain("Documentation</h1>");
  for (const address of ["../README", "openapi.json", "none", "guides"])
    expect(await pageAt(address)).toBeUndefined();
});

test("a search finds pages by their words, best first, and returns nothing for no words", async () => {
  expect((await searchDocs("retry safely"))[0]).toMatchObject({ address: "/docs/guides/retry-safely" });
  expect((await searchDocs("BudgetExceeded"))[0]).toMatchObject({ title: "BudgetExceeded" });
  expect(await searchDocs("")).toEqual([]);
  expect(await searchDocs("xyzzyplugh")).toEqual([]);
});
