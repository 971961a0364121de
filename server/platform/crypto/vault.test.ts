import { expect, test } from "vitest";
import { openSecret, sealSecret } from "./vault";

const OWNER = "delivery_endpoint|whe_1|secret";

test("a sealed value opens again, and sealing it a second time gives another text", () => {
  const sealed = sealSecret("whsec_täglich", OWNER);
  expect(openSecret(sealed, OWNER).toString()).toBe("whsec_täglich");
  expect(sealed).not.toContain("whsec");
  expect(sealSecret("whsec_täglich", OWNER)).not.toBe(sealed);
  expect(openSecret(sealSecret("", OWNER), OWNER)).toHaveLength(0);
});

test("a value copied to another row does not open", () => {
  expect(() => openSecret(sealSecret("secret", OWNER), "delivery_endpoint|whe_2|secret")).toThrow();
});

test("a flipped bit in any part, an unknown vault key and a text that is not sealed throw", () => {
  const sealed = sealSecret("secret", OWNER);
  const parts = sealed.split(".");
  for (let part = 2; part < parts.length; part++) {
    const bytes = Buffer.from(parts[part]!, "base64url");
    bytes[0]! ^= 1;
    const changed = parts.with(part, bytes.toString("base64url")).join(".");
    expect(() => openSecret(changed, OWNER)).toThrow();
  }
  expect(() => openSecret(parts.with(1, "AAAAAAAAAAA").join("."), OWNER)).toThrow(/vault key/);
  expect(() => openSecret("secret", OWNER)).toThrow(/not a sealed value/);
});
