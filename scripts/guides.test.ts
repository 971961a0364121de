import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const programs = readdirSync("e2e/outside/guides").map((file) => file.replace(/\.ts$/, ""));

test("every guide is listed in the README and shows a program that npm run test:outside runs", () => {
  expect(readdirSync("docs/guides").sort()).toEqual(programs.map((name) => `${name}.md`).sort());
  const readme = readFileSync("README.md", "utf8");
  for (const name of programs) expect(readme).toContain(`(docs/guides/${name}.md)`);
});

test.each(programs)("the guide to %s shows the program as it runs", (name) => {
  const program = readFileSync(`e2e/outside/guides/${name}.ts`, "utf8");
  expect(readFileSync(`docs/guides/${name}.md`, "utf8")).toContain(`\`\`\`ts\n${program}\`\`\``);
});
