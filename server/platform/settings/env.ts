import { z } from "zod";
import { isProxyAddress, readNoProxy } from "@/server/platform/settings/outgoing";
import { exitRefused, Refusal } from "@/server/platform/settings/refusal";

/** A boolean setting; undefined if it is not set. */
const choice = z
  .stringbool({ truthy: ["1", "true"], falsy: ["0", "false"], error: "must be true, false, 1 or 0" })
  .optional();
const flag = choice.transform((value) => value ?? false);
const text = z.string().trim().min(1).optional();
const whole = (message: string) => z.coerce.number(message).int(message);
const NO_PORT = "must be a port: a whole number from 0 to 65535";
const port = whole(NO_PORT).min(0, NO_PORT).max(65_535, NO_PORT);
const count = (fallback: number, least = 1) => {
  const message = `must be a whole number of at least ${least}`;
  return whole(message).min(least, message).default(fallback);
};
/** A number that is clamped to its bounds where it is used. */
const clamped = (fallback: number) => whole("must be a whole number").default(fallback);
const address = z
  .string()
  .trim()
  .refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), {
    message: "must be a URL that starts with http:// or https://",
  });

const databaseUrl = text.refine((value) => !value || /^postgres(ql)?:\/\//.test(value), {
  message: "must be the address of a PostgreSQL database: postgresql://user:password@host:5432/name",
});

const MAIL_SERVER = "must be a URL such as smtps://user:password@mail.example.com:465";
/** The mail server; `starttls` says whether a connection that starts unencrypted must be upgraded. */
const mailServer = z
  .string()
  .trim()
  .refine(
    (value) => {
      if (!/^smtps?:\/\//.test(value) || !URL.canParse(value)) return false;
      const { hostname, searchParams } = new URL(value);
      const starttls = searchParams.get("starttls") ?? "offered";
      return hostname !== "" && ["required", "offered", "never"].includes(starttls);
    },
    { message: MAIL_SERVER },
  );
const mailSender = z
  .string()
  .trim()
  .regex(/^(?:[^<>\p{Cc}]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/u, {
    message: "must be an email address such as Capstan <no-reply@example.com>",
  });

const list = z
  .string()
  .default("")
  .transform((text) => text.split(",").flatMap((each) => each.trim() || []));

const HOST_PATTERN = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/;
const hostList = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((list) => list.split(",").map((each) => each.trim().toLowerCase()))
    .refine((list) => list.every((each) => HOST_PATTERN.test(each)), {
      message: "must be a comma-separated list of host names such as example.org or *.example.org",
    });

const outgoingProxy = z.string().trim().refine(isProxyAddress, {
  message:
    "must be an address without a path that starts with http:// or https://, such as http://user:password@proxy.example.com:3128",
});
const NO_PROXY =
  "must be a comma-separated list of hosts, subdomains, addresses and networks such as example.org, *.example.org:8443, 10.1.2.3 or 10.0.0.0/8";
const withoutProxy = z
  .string()
  .transform((list) => list.split(",").map((each) => each.trim().toLowerCase()))
  .refine((list) => list.every((each) => readNoProxy(each) !== null), { message: NO_PROXY })
  .default([]);

const dollars = (usd: number) =>
  z.coerce.number("must be a number of US dollars").min(0).max(1_000_000).default(usd);

/** The product's own settings. docs/reference/settings.md explains each of them, and those of the providers. */
const Environment = z.object({
  CAPSTAN_ENV: z.enum(["development", "production"]).default("development"),
  HOST: z.string().default("127.0.0.1"),
  PORT: port.default(3000),
  WORKER_PORT: port.optional(),
  PUBLIC_URL: address.optional(),
  CAPSTAN_DATA_DIR: z.string().default(".data"),
  DATABASE_URL: databaseUrl,
  DATABASE_POOL: count(16),
  EMBEDDED_POSTGRES: flag,
  SANDBOX: flag,
  SANDBOX_URL: address.optional(),
  SANDBOX_PORT: port.default(0),
  TRIAL_ALLOWANCE_USD: dollars(0.5),
  TRIAL_CEILING_USD: dollars(0.25),
  AMBIGUOUS_HOLD_HOURS: count(24, 0),
  WRITE_OFF_LIMIT_MICROS: count(1_000_000, 0),
  SANDBOX_SLOW_MS: count(20_000),
  ALLOW_PRIVATE_ADDRESSES: flag,
  OUTGOING_PROXY: outgoingProxy.optional(),
  OUTGOING_NO_PROXY: withoutProxy,
  OUTGOING_PROXY_RESOLVES: flag,
  JOB_WAIT_SECONDS: count(120),
  NEXTAUTH_SECRET: text,
  CAPSTAN_VAULT_KEY: text,
  CAPSTAN_VAULT_OTHER_KEYS: list,
  GITHUB_ID: text,
  GITHUB_SECRET: text,
  GOOGLE_CLIENT_ID: text,
  GOOGLE_CLIENT_SECRET: text,
  OIDC_ISSUER: address.optional(),
  OIDC_CLIENT_ID: text,
  OIDC_CLIENT_SECRET: text,
  OIDC_NAME: text,
  INNGEST_BASE_URL: address.optional(),
  INNGEST_EVENT_KEY: text,
  INNGEST_SIGNING_KEY: text,
  INNGEST_DEV: text,
  INNGEST_SERVE_ORIGIN: address.optional(),
  ARTIFACT_STORE: z.enum(["files", "s3"]).default("files"),
  S3_ENDPOINT: address.optional(),
  S3_REGION: z.string().default("us-east-1"),
  S3_BUCKET: text,
  S3_ACCESS_KEY_ID: text,
  S3_SECRET_ACCESS_KEY: text,
  OPENAI_COMPATIBLE_MODELS: text,
  OPENAI_COMPATIBLE_MATURITY: z.enum(["G", "PG", "PG13", "R", "NC17"]).default("PG13"),
  HF_BASE_URL: address.default("https://huggingface.co"),
  HF_TOKEN: text,
  ADAPTER_SOURCE_HOSTS: hostList(
    "huggingface.co,*.hf.co,cdn-lfs.huggingface.co,cdn-lfs-us-1.huggingface.co,cdn-lfs-eu-1.huggingface.co",
  ),
  ADAPTER_UPLOAD_MAX_BYTES: count(2 * 1024 ** 3),
  ADAPTER_UPLOAD_IDLE_MS: count(30_000),
  ADAPTER_UPLOADS_PER_ORGANIZATION: count(3),
  ADAPTER_UPLOADS_AT_ONCE: count(12),
  STRIPE_SECRET_KEY: text,
  STRIPE_WEBHOOK_SECRET: text,
  STRIPE_TAX: flag,
  STRIPE_API_BASE: address.default("https://api.stripe.com"),
  FX_USD_CAD: z.coerce
    .number("must be a rate: Canadian dollars for one US dollar, such as 1.37")
    .min(0.01, "must be a rate from 0.01 to 100")
    .max(100, "must be a rate from 0.01 to 100")
    .optional(),
  METRICS_TOKEN: text,
  ALLOW_ONBOARDING: choice,
  PLANS: text,
  DEFAULT_PLAN: text,
  TRUSTED_PROXIES: count(0, 0),
  RATE_LIMIT_KEY_PER_MINUTE: count(600),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: count(120),
  REPEAT_GUARD_SECONDS: count(120, 0),
  METADATA_MAX_BYTES: clamped(16384),
  METADATA_MAX_DEPTH: clamped(32),
  TAGS_MAX: clamped(32),
  TAG_MAX_LENGTH: clamped(256),
  EXTERNAL_REF_MAX_LENGTH: clamped(255),
  SMTP_URL: mailServer.optional(),
  MAIL_FROM: mailSender.optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  CAPSTAN_FAILPOINTS: text,
});

/** Rules that involve more than one setting. */
const Together = Environment.refine(({ SMTP_URL, MAIL_FROM }) => !SMTP_URL || MAIL_FROM, {
  path: ["MAIL_FROM"],
  message: "is required with SMTP_URL: the sender of mails, such as Capstan <no-reply@example.com>",
})
  .refine(
    ({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }) =>
      !OIDC_ISSUER || (OIDC_CLIENT_ID && OIDC_CLIENT_SECRET),
    {
      path: ["OIDC_ISSUER"],
      message: "requires OIDC_CLIENT_ID and OIDC_CLIENT_SECRET",
    },
  )
  .refine(
    ({ OIDC_ISSUER, CAPSTAN_ENV }) =>
      !OIDC_ISSUER || CAPSTAN_ENV !== "production" || OIDC_ISSUER.startsWith("https://"),
    {
      path: ["OIDC_ISSUER"],
      message:
        "must start with https:// in production: anyone on the network path could otherwise sign in as any person",
    },
  );

/** The names of the product's own settings. */
export const SETTINGS = Object.keys(Environment.shape);

/**
 * The name of a provider's setting. Each provider declares its own (`environment`), so that a new provider is one file and
 * needs no change here.
 */
export const PROVIDER_SETTING = /^[A-Z][A-Z0-9_]*_(API_KEY|API_TOKEN|BASE_URL)$/;
type ProviderSettings = {
  [name: `${string}_API_KEY` | `${string}_API_TOKEN` | `${string}_BASE_URL`]: string | undefined;
};
export type Env = z.output<typeof Environment> & ProviderSettings;

/** Parses settings; empty strings count as unset. Throws a Refusal with one line per invalid setting, never its value. */
export function parseEnv(source: Record<string, string | undefined>): Env {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ""));
  const ofProviders = Object.keys(present).filter(
    (name) => PROVIDER_SETTING.test(name) && !SETTINGS.includes(name),
  );
  const shapes = ofProviders.map((name) => [name, name.endsWith("_BASE_URL") ? address : text] as const);
  const own = Together.safeParse(present);
  const theirs = z.object(Object.fromEntries(shapes)).safeParse(present);
  if (own.success && theirs.success) return { ...theirs.data, ...own.data };
  const issues = [own, theirs].flatMap(({ error }) => error?.issues ?? []);
  const lines = issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new Refusal(`Invalid settings:\n${lines.join("\n")}`);
}

function readEnv(): Env {
  try {
    return parseEnv(process.env);
  } catch (error) {
    return exitRefused(error);
  }
}

export const env = readEnv();
export const isProduction = env.CAPSTAN_ENV === "production";
/** True if the sandbox provider is on: always in development, in production only if SANDBOX is set. */
export const isSandboxOn = env.SANDBOX || !isProduction;
export const usesInngestServer = Boolean(env.INNGEST_BASE_URL || env.INNGEST_EVENT_KEY || env.INNGEST_DEV);
export const publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`;
