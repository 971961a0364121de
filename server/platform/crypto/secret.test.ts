import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret, toSecrets } from "./secret";

test("a secret is invisible in text, JSON, inspection, errors and copies", () => {
  const secret = new Secret("sk-very-private");
  const seen = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    JSON.stringify(structuredClone({ ...secret })),
    Object.entries(secret).join(),
    new Error(`with ${secret}`, { cause: secret }).stack ?? "",
    inspect(new Error("with a cause", { cause: { secret } })),
  ].join("\n");
  expect(seen).not.toContain("very-private");
  expect(secret.reveal()).toBe("sk-very-private");
  expect(toSecrets({ apiKey: "a" }).apiKey?.reveal()).toBe("a");
});
