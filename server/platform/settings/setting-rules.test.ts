import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { settingsExample } from "@/scripts/generate/settings-example";
import { parseEnv } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { checkSettings, settingWarnings } from "@/server/platform/settings/secrets";
import { embeddedDatabaseFault } from "@/server/platform/settings/setting-rules";
import { OIDC, PRODUCTION, WRONG_SETTINGS } from "@/testing/wrong-settings";

function start(changes: Record<string, string>) {
  const given = { ...PRODUCTION, ...changes };
  checkSettings(parseEnv(given), Object.keys(given));
}

test("a start with complete groups of settings is not refused", () => {
  expect(() =>
    start({
      ...OIDC,
      ...{ GITHUB_ID: "id", GITHUB_SECRET: "secret", GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "secret" },
      ...{ STRIPE_SECRET_KEY: "sk", STRIPE_WEBHOOK_SECRET: "whsec", STRIPE_TAX: "1" },
      ...{ ARTIFACT_STORE: "s3", S3_BUCKET: "bucket", PUBLIC_URL: "https://capstan.test/" },
    }),
  ).not.toThrow();
});

test.each(WRONG_SETTINGS)("a start in production with %j is refused by name", (changes, sentence) => {
  expect(() => start(changes)).toThrow(Refusal);
  expect(() => start(changes)).toThrow(sentence);
});

test("production starts the embedded database only if a setting says so", () => {
  const fault = (changes: Record<string, string>) =>
    embeddedDatabaseFault(parseEnv({ ...PRODUCTION, ...changes }));
  expect(fault({})).toMatch(/^DATABASE_URL is required in production.*set EMBEDDED_POSTGRES=1\.$/);
  expect(fault({ EMBEDDED_POSTGRES: "1" })).toBeNull();
  expect(fault({ CAPSTAN_ENV: "development" })).toBeNull();
});

test("an unknown name that begins with CAPSTAN_ causes a warning; names of clients and of Kubernetes do not", () => {
  const warnings = settingWarnings(parseEnv(PRODUCTION), [
    ...["CAPSTAN_COLOUR", "CAPSTAN_API_KEY", "CAPSTAN_SERVICE_HOST", "CAPSTAN_PORT_3000_TCP", "COLOUR"],
  ]);
  expect(warnings).toEqual([expect.stringMatching(/^CAPSTAN_COLOUR is not a setting/)]);
});

const page = readFileSync("docs/reference/settings.md", "utf8");
const required = [
  ...page.matchAll(/^\| `([A-Z0-9_]+)` \| .*? \| (in production|with `([A-Z0-9_]+)(?:=(\w+))?`) \|/gm),
].map(([, name = "", , other, value]) => ({ name, other, value }));
const SAMPLES: Record<string, string> = { OIDC_ISSUER: OIDC.OIDC_ISSUER, SMTP_URL: "smtp://mail.test" };

test.each(required)(
  "$name is required with $other, as the page of settings says",
  ({ name, other, value }) => {
    const beside = other ? { [other]: value ?? SAMPLES[other] ?? "set" } : {};
    expect(() => start({ ...beside, [name]: "" })).toThrow(name);
  },
);

test("the page of settings lists more than ten required settings", () => {
  expect(required.length).toBeGreaterThan(10);
});

test(".env.example is what npm run generate makes from the page of settings", () => {
  expect(readFileSync(".env.example", "utf8")).toBe(settingsExample(page));
});

test("a row of the page becomes wrapped comment lines without markup, and the setting with its default", () => {
  const row = (name: string, value: string, need: string, text: string) =>
    `| \`${name}\` | ${value} | ${need} | ${text} |`;
  const text = `Says [where](x.md#y) \`it\` ${"is ".repeat(40)}.`;
  const made = settingsExample(
    `# S\n\n## Part\n\nText.\n\n${row("ONE", "`a,b`", "–", "First. [More](x.md).")}\n${row("TWO", "–", "with `ONE`", text)}`,
  );
  expect(made.split("\n").slice(2)).toEqual([
    "",
    "# --- Part",
    "# First.",
    "ONE=a,b",
    `# Says where it ${"is ".repeat(34)}is`,
    `# ${"is ".repeat(5)}. Required with ONE.`,
    "TWO=",
    "",
  ]);
});
