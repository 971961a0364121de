import { expect, test } from "vitest";
import { callerName } from "./caller-name";

const ID = "01k9abcdefghjkmnpqrstvwxyz";

test("a key is shown by name and marked as a key, a person by email, with or without the kind", () => {
  for (const kind of ["service_principal", null])
    expect(callerName({ id: `key_${ID}`, kind, name: "CI" })).toBe("CI (API key)");
  for (const kind of ["human_session", undefined])
    expect(callerName({ id: `usr_${ID}`, kind, name: "a@b.test" })).toBe("a@b.test");
});

test("a caller without a name is shown by kind and a shortened id", () => {
  expect(callerName({ id: `key_${ID}`, name: null })).toBe(`API key key_01k9…${ID.slice(-6)}`);
  expect(callerName({ id: `usr_${ID}`, name: null })).toMatch(/^Person usr_/);
  expect(callerName({ id: `pses_${ID}`, name: null })).toMatch(/^Embed session pses_/);
  expect(callerName({ id: "pruner", kind: "system", name: null })).toBe("Capstan (pruner)");
});
