import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROVIDER_SETTING, parseEnv, SETTINGS } from "@/server/platform/settings/env";
import { providers } from "@/server/providers/registry.gen";

const example = readFileSync(".env.example", "utf8");
const listed = [...example.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value]) => ({
  name,
  value,
}));

/** Settings that providers read themselves; the sandbox's address is a setting of the product. */
const ofProviders = providers.flatMap(({ environment, defaultBaseUrl }) => [
  ...Object.values(environment.credentials).map((name) => ({ name, shown: "" })),
  ...(SETTINGS.includes(environment.baseUrl)
    ? []
    : [{ name: environment.baseUrl, shown: defaultBaseUrl ?? "" }]),
]);

test(".env.example lists every setting exactly once, and nothing else", () => {
  const named = [...SETTINGS, ...ofProviders.map(({ name }) => name)];
  expect(listed.map((setting) => setting.name).sort()).toEqual(named.sort());
});

test("each provider's setting has a name that is read, and .env.example shows its default", () => {
  for (const { name, shown } of ofProviders) {
    expect(name).toMatch(PROVIDER_SETTING);
    expect(listed.find((setting) => setting.name === name)).toMatchObject({ value: shown });
  }
});

test("a provider's settings are read without being known here, and an invalid address is refused by name", () => {
  expect(parseEnv({ NEW_VENDOR_API_KEY: " key ", NEW_VENDOR_BASE_URL: "", OTHER: "x" })).toMatchObject({
    NEW_VENDOR_API_KEY: "key",
  });
  expect(Object.keys(parseEnv({ OTHER: "x", NEW_VENDOR_BASE_URL: "" }))).not.toContain("OTHER");
  expect(() => parseEnv({ NEW_VENDOR_BASE_URL: "vendor.example" })).toThrow(
    "NEW_VENDOR_BASE_URL: must be a URL that starts with http:// or https://",
  );
});

test(".env.example shows the defaults of the product's own settings", () => {
  const own = listed.filter(({ name }) => SETTINGS.includes(name));
  const shown = parseEnv(Object.fromEntries(own.map(({ name, value }) => [name, value])));
  expect(shown).toEqual(parseEnv({}));
});

test("a wrong setting is named, and its value is not", () => {
  expect(() => parseEnv({ PORT: "sesame", NEXTAUTH_SECRET: "opensesame" })).toThrow(
    /^Invalid settings:\nPORT: /,
  );
  expect(() => parseEnv({ PORT: "sesame" })).not.toThrow(/sesame/);
});

test("one refusal lists every invalid number and address, each with a sentence", () => {
  const wrong = {
    PORT: "70000",
    RATE_LIMIT_KEY_PER_MINUTE: "-3",
    INNGEST_BASE_URL: "inngest",
    S3_ENDPOINT: "s3://x",
  };
  expect(() => parseEnv(wrong)).toThrow(
    [
      "Invalid settings:",
      "PORT: must be a port: a whole number from 0 to 65535",
      "INNGEST_BASE_URL: must be a URL that starts with http:// or https://",
      "S3_ENDPOINT: must be a URL that starts with http:// or https://",
      "RATE_LIMIT_KEY_PER_MINUTE: must be a whole number of at least 1",
    ].join("\n"),
  );
});

test("a mail server needs a sender, and a malformed value of either is refused", () => {
  const good = {
    SMTP_URL: "smtps://robot:opensesame@mail.example.com",
    MAIL_FROM: "Capstan <no-reply@example.com>",
  };
  expect(parseEnv(good)).toMatchObject(good);
  expect(parseEnv({ ...good, MAIL_FROM: "no-reply@example.com" }).MAIL_FROM).toBe("no-reply@example.com");
  expect(() => parseEnv({ SMTP_URL: good.SMTP_URL })).toThrow(
    /^Invalid settings:\nMAIL_FROM: is required with SMTP_URL/,
  );
  expect(() => parseEnv({ SMTP_URL: good.SMTP_URL })).not.toThrow(/opensesame/);
  for (const SMTP_URL of [
    "mail.example.com",
    "https://mail.example.com",
    "smtp://",
    "smtp://mail?starttls=maybe",
  ])
    expect(() => parseEnv({ ...good, SMTP_URL }), SMTP_URL).toThrow(
      /^Invalid settings:\nSMTP_URL: must be a URL/,
    );
  for (const MAIL_FROM of ["Capstan", "a@b.test, c@d.test", "A\r\nBcc: <c@d.test>"])
    expect(() => parseEnv({ ...good, MAIL_FROM }), MAIL_FROM).toThrow(
      /^Invalid settings:\nMAIL_FROM: must be an email address/,
    );
});

test("an identity provider needs its client, and in production an encrypted address", () => {
  const client = { OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "sesame" };
  const near = "http://127.0.0.1:9000";
  expect(parseEnv({ ...client, OIDC_ISSUER: near }).OIDC_ISSUER).toBe(near);
  expect(() => parseEnv({ OIDC_ISSUER: near, OIDC_CLIENT_ID: "id" })).toThrow(
    /^Invalid settings:\nOIDC_ISSUER: requires/,
  );
  const production = { CAPSTAN_ENV: "production", ...client };
  expect(() => parseEnv({ ...production, OIDC_ISSUER: near })).toThrow(/OIDC_ISSUER: must start with https/);
  expect(parseEnv({ ...production, OIDC_ISSUER: "https://id.example" }).OIDC_NAME).toBeUndefined();
});
