import { expect, test } from "vitest";
import { callerName } from "./caller-name";

const ID = "01k9abcdefghjkmnpqrstvwxyz";

test("a key is called by its name and that it is one, a person by their e-mail, whether or not the kind is told", () => {
  for (const kind of ["service_principal", null])
    expect(callerName({ id: `key_${ID}`, kind, name: "CI" })).toBe("CI (API key)");
  for (const kind of ["human_session", undefined])
    expect(callerName({ id: `usr_${ID}`, kind, name: "a@b.test" })).toBe("a@b.test");
});

test("who has no name is called by what they are, and by enough of their id to tell two apart", () => {
  expect(callerName({ id: `key_${ID}`, name: null })).toBe(`API key key_01k9…${ID.slice(-6)}`);
  expect(callerName({ id: `usr_${ID}`, name: null })).toMatch(/^Person usr_/);
  expect(callerName({ id: `pses_${ID}`, name: null })).toMatch(/^Embedded panel pses_/);
  expect(callerName({ id: "pruner", kind: "system", name: null })).toBe("Capstan (pruner)");
});
