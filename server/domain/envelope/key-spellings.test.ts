import { expect, test } from "vitest";
import { charactersOf } from "@/server/platform/text/characters";
import { callersKey, holderOf, soughtSpellings, spellingsOf } from "./key-spellings";

const KEYS = ["k", "a".repeat(254), "a".repeat(255), "🔑".repeat(255), "production/k", "é/", "/"];

test("the spelling of an environment is longer than any key, and no two keys share one", () => {
  const all = KEYS.flatMap((key) => ["a", "production", "a-b"].map((each) => [each, key] as const));
  const spelled = new Map<string, string>();
  for (const [environment, key] of all) {
    const [plain, own = ""] = spellingsOf({ key }, environment);
    expect(plain).toBe(key);
    expect(charactersOf(own)).toBeGreaterThan(255);
    expect(callersKey(environment, own)).toBe(key);
    expect(callersKey(environment, key)).toBe(key);
    expect(spelled.get(own) ?? `${environment} ${key}`).toBe(`${environment} ${key}`);
    spelled.set(own, `${environment} ${key}`);
  }
});

test("a key belongs to the row of its own environment, and the new spelling comes first", () => {
  const sent = { key: "clé", former: "clÃ©" };
  const row = (spelling: string, environment: string) => ({ spelling, environment });
  const [, own = ""] = spellingsOf(sent, "staging");
  const find = (...rows: ReturnType<typeof row>[]) => holderOf(rows, sent, "staging");
  expect(find()).toEqual({ first: null, spelling: "clé" });
  expect(find(row("clÃ©", "staging"), row("clé", "staging")).first?.spelling).toBe("clé");
  expect(find(row("clé", "production"), row(own, "staging")).first?.spelling).toBe(own);
  expect(find(row("clÃ©", "staging")).first?.spelling).toBe("clÃ©");
  expect(find(row("clé", "production"))).toEqual({ first: null, spelling: own });
  expect(find(row("clÃ©", "production"))).toEqual({ first: null, spelling: "clé" });
});

test("a key is also sought as 0.2.0 read it from a header, and in each environment", () => {
  expect(soughtSpellings("k", [])).toEqual(["k", '"k"']);
  const [, own = ""] = spellingsOf({ key: "clé" }, "a");
  expect(soughtSpellings("clé", ["a"])).toEqual(["clé", "clÃ©", '"clÃ©"', '"clé"', own]);
});
