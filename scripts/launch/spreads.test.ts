import { expect, test } from "vitest";
import { withoutCopiedStarts } from "./spreads";

const same = (program: string) => expect(withoutCopiedStarts(program)).toBe(program);

test("a literal that begins with a spread and goes on begins with nothing instead", () => {
  expect(withoutCopiedStarts("f({ ...a, b: 1 });")).toBe("f({ ...null, ...a, b: 1 });");
  expect(withoutCopiedStarts("x = {\n  ...a,\n  b: { ...c, ...d }\n};")).toBe(
    "x = { ...null,\n  ...a,\n  b: { ...null, ...c, ...d }\n};",
  );
});

test("nothing else is touched: plain copies, patterns, calls, lists, text that only looks like it", () => {
  same("x = { ...a };");
  same("x = { b: 1, ...a };");
  same("const { b, ...rest } = a; f(...rest); y = [...rest, b];");
  same("function f({ ...rest }, g) { return rest; }");
  same('s = "{ ...a, b }"; t = `{ ...a, b }`; // { ...a, b }');
  same("({ ...rest } = a);");
});

test("it means the same, getters and order of keys included", () => {
  const program = `
    const log = [];
    const from = { b: 1, get a() { log.push("a"); return 2; }, [Symbol.for("s")]: 3 };
    JSON.stringify([{ ...from, c: 4, b: 5 }, { ...undefined, a: 1 }, log]) + (({ ...from, z: 0 })[Symbol.for("s")]);`;
  // biome-ignore lint/security/noGlobalEval: the very programs that are compared
  expect(eval(withoutCopiedStarts(program))).toBe(eval(program));
});
