import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const programs = readdirSync("e2e/outside/guides").map((file) => file.replace(/\.ts$/, ""));
const pages = readdirSync("docs/start").map((file) => file.replace(/\.md$/, ""));
/** Pages without a program of a client. */
const OTHERS = ["agent-frameworks", "first-tasks", "quickstart", "your-own-provider"];

test("every client's page has a program that npm run test:outside runs", () => {
  expect(pages.toSorted()).toEqual([...programs, ...OTHERS].toSorted());
});

test("the README and the index link to every client's page", () => {
  for (const [file, folder] of [
    ["README.md", "docs/start"],
    ["docs/README.md", "start"],
  ] as const) {
    const text = readFileSync(file, "utf8");
    for (const name of programs) expect(text, file).toContain(`(${folder}/${name}.md)`);
  }
});

test.each(programs)("the page of %s shows the program as it runs", (name) => {
  const program = readFileSync(`e2e/outside/guides/${name}.ts`, "utf8");
  expect(readFileSync(`docs/start/${name}.md`, "utf8")).toContain(`\`\`\`ts\n${program}\`\`\``);
});
