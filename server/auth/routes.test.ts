import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const sources = (folder: string) =>
  readdirSync(folder, { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ({ file, text: readFileSync(file, "utf8") }));

/** Routes that read no cookie: their requests are signed by the sender or carry a key. */
const WITHOUT_COOKIE = ["app/api/webhooks/stripe/route.ts", "app/api/inngest/route.ts", "app/mcp/route.ts"];

test("every route that takes a write outside the API checks first that it comes from our own pages", () => {
  const routes = sources("app").filter(
    ({ file, text }) =>
      file.endsWith("route.ts") &&
      !file.startsWith("app/v1/") &&
      /\b(POST|PUT|PATCH|DELETE)\b/.test(text) &&
      !WITHOUT_COOKIE.includes(file),
  );
  const asking = routes.filter(({ text }) =>
    /\bserve\(|\bhandlers\(panelFiles\)|\bservePanel\(|\brequireOwnPage\(incoming\)/.test(text),
  );
  expect(asking.map(({ file }) => file)).toEqual(routes.map(({ file }) => file));
  expect(routes.map(({ file }) => file)).toEqual(
    expect.arrayContaining(["app/api/auth/[...nextauth]/route.ts", "app/api/trpc/[trpc]/route.ts"]),
  );
});

test("no page has a server action, because each would be another way to write", () => {
  const acting = [...sources("app"), ...sources("components")].filter(({ text }) =>
    /["']use server["']/.test(text),
  );
  expect(acting.map(({ file }) => file)).toEqual([]);
});
