import { expect, test } from "vitest";
import { parseEnv } from "@/server/env";
import { Refusal } from "@/server/refusal";
import { checkSettings, settingWarnings } from "@/server/secrets";

const PRODUCTION = {
  CAPSTAN_ENV: "production",
  NEXTAUTH_SECRET: "p9Xz4rT1mQ8vB2nL6kW0sD3fH7jY5cGaEuRo",
  CAPSTAN_VAULT_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString("base64"),
  PUBLIC_URL: "https://capstan.test",
  DATABASE_URL: "postgresql://capstan@127.0.0.1/capstan",
};
const OIDC = { OIDC_ISSUER: "https://id.test", OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "secret" };

function start(changes: Record<string, string>) {
  const given = { ...PRODUCTION, ...changes };
  checkSettings(parseEnv(given), Object.keys(given));
}

test("what belongs together starts", () => {
  expect(() =>
    start({
      ...OIDC,
      ...{ GITHUB_ID: "id", GITHUB_SECRET: "secret", GOOGLE_CLIENT_ID: "id", GOOGLE_CLIENT_SECRET: "secret" },
      ...{ STRIPE_SECRET_KEY: "sk", STRIPE_WEBHOOK_SECRET: "whsec", STRIPE_TAX: "1" },
      ...{ ARTIFACT_STORE: "s3", S3_BUCKET: "bucket", PUBLIC_URL: "https://capstan.test/" },
    }),
  ).not.toThrow();
});

test.each<[Record<string, string>, string]>([
  [{ CAPSTAN_ENV: "prod" }, "CAPSTAN_ENV"],
  [{ PORT: "70000" }, "PORT: must be a port"],
  [{ WORKER_PORT: "http" }, "WORKER_PORT: must be a port"],
  [
    { DATABASE_URL: "mysql://capstan@127.0.0.1/capstan" },
    "DATABASE_URL: must be the address of a PostgreSQL",
  ],
  [{ DATABASE_POOL: "0" }, "DATABASE_POOL: must be a whole number of at least 1"],
  [{ LOG_LEVEL: "loud" }, "LOG_LEVEL"],
  [{ NEXTAUTH_SECRET: "" }, "NEXTAUTH_SECRET is not set"],
  [{ NEXTAUTH_SECRET: "short" }, "NEXTAUTH_SECRET is a default or too short"],
  [{ CAPSTAN_VAULT_KEY: "" }, "CAPSTAN_VAULT_KEY is not set"],
  [{ CAPSTAN_VAULT_KEY: "short" }, "CAPSTAN_VAULT_KEY must be 32 bytes"],
  [{ CAPSTAN_VAULT_OTHER_KEYS: "short" }, "CAPSTAN_VAULT_OTHER_KEYS must be keys"],
  [{ PUBLIC_URL: "" }, "PUBLIC_URL must be the https address"],
  [{ PUBLIC_URL: "http://capstan.test" }, "PUBLIC_URL must be the https address"],
  [{ PUBLIC_URL: "https://capstan.test/panel" }, "PUBLIC_URL must be an address without a path"],
  [{ PUBLIC_URL: "https://user@capstan.test" }, "PUBLIC_URL must be an address without a path"],
  [{ INNGEST_DEV: "1" }, "INNGEST_DEV must not be set"],
  [{ INNGEST_EVENT_KEY: "key" }, "INNGEST_SIGNING_KEY is needed"],
  [{ ARTIFACT_STORE: "disk" }, "ARTIFACT_STORE"],
  [{ ARTIFACT_STORE: "s3" }, "S3_BUCKET is required with ARTIFACT_STORE=s3"],
  [{ S3_ACCESS_KEY_ID: "id" }, "S3_SECRET_ACCESS_KEY is required with S3_ACCESS_KEY_ID"],
  [{ S3_SECRET_ACCESS_KEY: "secret" }, "S3_ACCESS_KEY_ID is required with S3_SECRET_ACCESS_KEY"],
  [{ STRIPE_SECRET_KEY: "sk" }, "STRIPE_WEBHOOK_SECRET is required with STRIPE_SECRET_KEY"],
  [{ STRIPE_WEBHOOK_SECRET: "whsec" }, "STRIPE_SECRET_KEY is required with STRIPE_WEBHOOK_SECRET"],
  [{ STRIPE_TAX: "1" }, "STRIPE_SECRET_KEY is required with STRIPE_TAX"],
  [{ FX_USD_CAD: "0" }, "FX_USD_CAD: must be a rate from 0.01 to 100"],
  [{ GITHUB_ID: "id" }, "GITHUB_SECRET is required with GITHUB_ID"],
  [{ GOOGLE_CLIENT_SECRET: "secret" }, "GOOGLE_CLIENT_ID is required with GOOGLE_CLIENT_SECRET"],
  [{ ...OIDC, OIDC_ISSUER: "" }, "OIDC_ISSUER is required with OIDC_CLIENT_ID"],
  [{ ...OIDC, OIDC_CLIENT_SECRET: "" }, "OIDC_ISSUER: requires OIDC_CLIENT_ID and OIDC_CLIENT_SECRET"],
  [{ ...OIDC, OIDC_ISSUER: "http://id.test" }, "OIDC_ISSUER: must start with https:// in production"],
  [{ SMTP_URL: "smtp://mail.test" }, "MAIL_FROM: is required with SMTP_URL"],
  [{ CAPSTAN_FAILPOINTS: "after-claim" }, "CAPSTAN_FAILPOINTS must not be set in production"],
  [{ CAPSTAN_VAULT_KYE: "key" }, "CAPSTAN_VAULT_KYE is not a setting: did you mean CAPSTAN_VAULT_KEY?"],
  [{ STRIPE_WEBHOK_SECRET: "whsec" }, "did you mean STRIPE_WEBHOOK_SECRET?"],
  [{ DATABASE_URLS: "x" }, "did you mean DATABASE_URL?"],
  [{ public_url: "x" }, "did you mean PUBLIC_URL?"],
  [{ PUBLIC_URI: "x" }, "did you mean PUBLIC_URL?"],
])("a start in production with %j is refused by name", (changes, sentence) => {
  expect(() => start(changes)).toThrow(Refusal);
  expect(() => start(changes)).toThrow(sentence);
});

test("an unknown name that begins with CAPSTAN_ is warned of; names of clients and of Kubernetes are not", () => {
  const warnings = settingWarnings(parseEnv(PRODUCTION), [
    ...["CAPSTAN_COLOUR", "CAPSTAN_API_KEY", "CAPSTAN_SERVICE_HOST", "CAPSTAN_PORT_3000_TCP", "COLOUR"],
  ]);
  expect(warnings).toEqual([expect.stringMatching(/^CAPSTAN_COLOUR is not a setting/)]);
});
