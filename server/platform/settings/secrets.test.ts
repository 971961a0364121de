import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseEnv } from "@/server/platform/settings/env";
import {
  checkSettings,
  productionFaults,
  readSecrets,
  settingWarnings,
} from "@/server/platform/settings/secrets";

const scratch = mkdtempSync(join(tmpdir(), "capstan-secrets-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const VAULT_KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString("base64");
const PRODUCTION = {
  CAPSTAN_ENV: "production",
  NEXTAUTH_SECRET: "p9Xz4rT1mQ8vB2nL6kW0sD3fH7jY5cGaEuRo",
  CAPSTAN_VAULT_KEY: VAULT_KEY,
  PUBLIC_URL: "https://capstan.test",
};
const faultsOf = (changes: Record<string, string>) =>
  productionFaults(parseEnv({ ...PRODUCTION, ...changes })).join("\n");

test("a development installation creates its secrets once, in a file that only its owner can read", () => {
  const settings = parseEnv({ CAPSTAN_DATA_DIR: join(scratch, "once") });
  const first = readSecrets(settings);
  expect(first.vaultKey).toHaveLength(32);
  expect(first.nextAuthSecret.length).toBeGreaterThanOrEqual(48);
  expect(readSecrets(settings)).toEqual(first);
  expect(statSync(join(scratch, "once", "secrets.json")).mode & 0o777).toBe(0o600);
});

test("two installations have different secrets", () => {
  const [a, b] = ["a", "b"].map((name) => readSecrets(parseEnv({ CAPSTAN_DATA_DIR: join(scratch, name) })));
  expect(a!.vaultKey.equals(b!.vaultKey)).toBe(false);
  expect(a!.nextAuthSecret).not.toBe(b!.nextAuthSecret);
});

test("secrets of the environment take precedence, and nothing is written then", () => {
  const settings = parseEnv({ ...PRODUCTION, CAPSTAN_DATA_DIR: join(scratch, "untouched") });
  expect(readSecrets(settings).vaultKey.toString("base64")).toBe(VAULT_KEY);
  expect(() => readFileSync(join(scratch, "untouched", "secrets.json"))).toThrow();
  const hex = parseEnv({
    ...PRODUCTION,
    CAPSTAN_VAULT_KEY: Buffer.from(VAULT_KEY, "base64").toString("hex"),
  });
  expect(readSecrets(hex).vaultKey.toString("base64")).toBe(VAULT_KEY);
});

test("a damaged file of secrets is refused", () => {
  const directory = mkdtempSync(join(scratch, "damaged-"));
  writeFileSync(join(directory, "secrets.json"), "{");
  expect(() => readSecrets(parseEnv({ CAPSTAN_DATA_DIR: directory }))).toThrow(/damaged/);
});

test("production starts with its own secrets and an https address", () => {
  expect(faultsOf({})).toBe("");
  expect(() => checkSettings(parseEnv(PRODUCTION))).not.toThrow();
});

test.each([
  [{ NEXTAUTH_SECRET: "" }, /NEXTAUTH_SECRET is not set/],
  [{ NEXTAUTH_SECRET: "short" }, /NEXTAUTH_SECRET is a default or too short/],
  [{ NEXTAUTH_SECRET: "change-me-change-me-change-me-change-me" }, /NEXTAUTH_SECRET is a default/],
  [{ CAPSTAN_VAULT_KEY: "" }, /CAPSTAN_VAULT_KEY is not set/],
  [{ PUBLIC_URL: "" }, /PUBLIC_URL must be the https address/],
  [{ PUBLIC_URL: "http://capstan.test" }, /PUBLIC_URL must be the https address/],
  [{ INNGEST_DEV: "1" }, /INNGEST_DEV must not be set/],
  [{ INNGEST_BASE_URL: "http://inngest.test" }, /INNGEST_SIGNING_KEY is needed/],
  [{ INNGEST_EVENT_KEY: "key" }, /INNGEST_SIGNING_KEY is needed/],
])("production refuses %j", (changes, message) => {
  expect(faultsOf(changes)).toMatch(message);
  expect(() => readSecrets(parseEnv({ ...PRODUCTION, ...changes }))).toThrow(message);
});

test("production with an Inngest server and its signing key starts", () => {
  expect(faultsOf({ INNGEST_BASE_URL: "http://inngest.test", INNGEST_SIGNING_KEY: "signkey-prod-1" })).toBe(
    "",
  );
});

test("a malformed vault key is refused in development too", () => {
  for (const key of ["short", Buffer.alloc(32).toString("base64"), Buffer.alloc(31, 1).toString("base64")])
    expect(() => checkSettings(parseEnv({ CAPSTAN_VAULT_KEY: key }))).toThrow(
      /CAPSTAN_VAULT_KEY must be 32 bytes/,
    );
});

test.each([
  ["a sandbox without an address is warned of", { SANDBOX: "1" }, 1],
  ["a sandbox with an address is not", { SANDBOX: "1", SANDBOX_URL: "http://127.0.0.1:3001" }, 0],
  ["no sandbox is not", {}, 0],
  ["development has one by default, and warns too", { CAPSTAN_ENV: "development" }, 1],
])("warnings of a start: %s", (_name, changes, count) => {
  const warnings = settingWarnings(parseEnv({ ...PRODUCTION, ...changes }), []);
  expect(warnings).toHaveLength(count);
  for (const warning of warnings) expect(warning).toMatch(/SANDBOX_URL is not set.*npm run start -- sandbox/);
});
