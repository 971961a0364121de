import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openReach } from "./reach";

function repository(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), "reach-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const { usersOf } = openReach(root);
  return (file: string, ...ends: string[]) =>
    [...usersOf(file, (user) => ends.includes(user))].filter((user) => user.includes(".test.")).sort();
}

const BUDGETS = {
  "server/budgets/index.ts": `export { set } from "./set";\nexport { reserve as hold } from "./reserve";`,
  "server/budgets/set.ts": `import { LIMITS } from "./limits";\nexport const set = () => LIMITS;`,
  "server/budgets/reserve.ts": `export function reserve() {}`,
  "server/budgets/limits.ts": `export const LIMITS = {};`,
};

test("a function of an index is reached by the tests that use it, not by all that load the index", () => {
  const testsOf = repository({
    ...BUDGETS,
    "server/a.test.ts": `import * as budgets from "@/server/budgets";\ntest("a", () => budgets.set());`,
    "server/b.test.ts": `import { hold } from "@/server/budgets";\ntest("b", () => hold());`,
    "server/c.test.ts": `import * as budgets from "@/server/budgets";\ntest.each(Object.values(budgets))("c", () => {});`,
    "server/d.test.ts": `import { type set } from "@/server/budgets";\ntest("d", () => {});`,
  });
  expect(testsOf("server/budgets/set.ts")).toEqual(["server/a.test.ts", "server/c.test.ts"]);
  expect(testsOf("server/budgets/limits.ts")).toEqual(["server/a.test.ts", "server/c.test.ts"]);
  expect(testsOf("server/budgets/reserve.ts")).toEqual(["server/b.test.ts", "server/c.test.ts"]);
  expect(testsOf("server/budgets/index.ts")).toEqual([
    "server/a.test.ts",
    "server/b.test.ts",
    "server/c.test.ts",
  ]);
});

test("code that runs on load is reached by every test that loads its file", () => {
  const testsOf = repository({
    "server/register.ts": `import { set } from "./set";\nset("once");\nexport const other = 1;`,
    "server/set.ts": `export const set = (name: string) => name;`,
    "server/a.test.ts": `import "./register";\ntest("a", () => {});`,
  });
  expect(testsOf("server/register.ts")).toEqual(["server/a.test.ts"]);
  expect(testsOf("server/set.ts")).toEqual(["server/a.test.ts"]);
});

test("programs, data files, dynamic imports, destructured exports and JSX are followed", () => {
  const testsOf = repository({
    "server/worker.ts": `import { work } from "./work";\nwork();`,
    "server/work.ts": `export const work = () => {};`,
    "server/cases.json": "[]",
    "server/late.ts": `export const late = 1;`,
    "components/view.tsx": `export const View = () => null;\nexport const { Part } = { Part: View };`,
    "server/a.test.ts": `test("a", () => spawn("server/worker.ts"));`,
    "server/b.test.ts": `const read = () => readFileSync("./cases.json");\ntest("b", read);`,
    "server/c.test.ts": `test("c", async () => (await import("./late")).late);`,
    "components/d.test.tsx": `import { Part } from "./view";\ntest("d", () => render(<Part />));`,
    "components/e.test.tsx": `import * as views from "./view";\ntest("e", () => render(<views.View />));`,
  });
  expect(testsOf("server/work.ts")).toEqual(["server/a.test.ts"]);
  expect(testsOf("server/cases.json")).toEqual(["server/b.test.ts"]);
  expect(testsOf("server/late.ts")).toEqual(["server/c.test.ts"]);
  expect(testsOf("components/view.tsx")).toEqual(["components/d.test.tsx", "components/e.test.tsx"]);
});

test("export * is followed to the file that declares the name", () => {
  const testsOf = repository({
    "server/define.ts": `export * from "./words";`,
    "server/words.ts": `export const word = 1;\nexport const other = 2;`,
    "server/a.test.ts": `import { word } from "./define";\ntest("a", () => word);`,
  });
  expect(testsOf("server/words.ts")).toEqual(["server/a.test.ts"]);
});

test("a change is not followed beyond a file that is given as an end, unless that file itself changed", () => {
  const testsOf = repository({
    ...BUDGETS,
    "server/all.ts": `import { set } from "@/server/budgets";\nexport const all = [set];`,
    "server/a.test.ts": `import { all } from "./all";\ntest("a", () => all);`,
    "server/b.test.ts": `import { set } from "./budgets";\ntest("b", () => set());`,
  });
  expect(testsOf("server/budgets/set.ts", "server/all.ts")).toEqual(["server/b.test.ts"]);
  expect(testsOf("server/all.ts", "server/all.ts")).toEqual(["server/a.test.ts"]);
});
