import type { Env } from "@/server/platform/settings/env";

/** Pairs of settings of which neither does anything without the other. */
const PAIRS: [keyof Env & string, keyof Env & string][] = [
  ["GITHUB_ID", "GITHUB_SECRET"],
  ["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"],
  ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"],
  ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"],
];

/** Faults of settings that need or exclude one another, and of a PUBLIC_URL with a path: one sentence each, never a value. */
export function faultsTogether(settings: Env): string[] {
  const faults = PAIRS.flatMap(([one, other]) => {
    if (Boolean(settings[one]) === Boolean(settings[other])) return [];
    const [set, unset] = settings[one] ? [one, other] : [other, one];
    return [`${unset} is required with ${set}. Set both, or neither.`];
  });
  if (settings.ARTIFACT_STORE === "s3" && !settings.S3_BUCKET)
    faults.push("S3_BUCKET is required with ARTIFACT_STORE=s3. Set the name of the bucket.");
  if (settings.STRIPE_TAX && !settings.STRIPE_SECRET_KEY)
    faults.push("STRIPE_SECRET_KEY is required with STRIPE_TAX. Set both, or neither.");
  for (const [name, isSet] of [
    ["OUTGOING_NO_PROXY", settings.OUTGOING_NO_PROXY.length > 0],
    ["OUTGOING_PROXY_RESOLVES", settings.OUTGOING_PROXY_RESOLVES],
  ] as const)
    if (isSet && !settings.OUTGOING_PROXY)
      faults.push(`OUTGOING_PROXY is required with ${name}. Set both, or neither.`);
  if (!settings.OIDC_ISSUER && (settings.OIDC_CLIENT_ID || settings.OIDC_CLIENT_SECRET))
    faults.push(
      "OIDC_ISSUER is required with OIDC_CLIENT_ID and OIDC_CLIENT_SECRET. Set all three, or none.",
    );
  if (settings.PUBLIC_URL && !isOrigin(settings.PUBLIC_URL))
    faults.push("PUBLIC_URL must be an address without a path, such as https://capstan.example.com.");
  if (settings.CAPSTAN_ENV === "production" && settings.CAPSTAN_FAILPOINTS)
    faults.push("CAPSTAN_FAILPOINTS must not be set in production: it kills processes on purpose.");
  return faults;
}

/** The reason why these settings do not start the embedded PostgreSQL, which is made for development; null if they do. */
export function embeddedDatabaseFault(settings: Env): string | null {
  if (settings.CAPSTAN_ENV !== "production" || settings.EMBEDDED_POSTGRES) return null;
  return "DATABASE_URL is required in production: set it to your PostgreSQL server. To use the embedded PostgreSQL all the same, set EMBEDDED_POSTGRES=1.";
}

function isOrigin(address: string): boolean {
  const { pathname, search, hash, username, password } = new URL(address);
  return pathname === "/" && !search && !hash && !username && !password;
}

/** Names that clients, launchers and tests read, not the product's processes. */
const OF_OTHERS = [
  ...[
    "API_KEY",
    "BASE_URL",
    "BUILD_ID",
    "CAMPAIGN",
    "CLOCK",
    "DEBUG",
    "IMAGE",
    "OUTSIDE_RECORD",
    "OUTSIDE_REPORT",
    "PROJECT",
  ],
  ...["SEED", "URL"],
].map((name) => `CAPSTAN_${name}`);
/** Kubernetes sets such names in a container for each service beside it. */
const OF_SERVICES = /_(SERVICE_HOST|SERVICE_PORT|PORT)(_|$)/;

/**
 * Finds names of the environment that are probably misspelt settings: a fault if a known name of eight characters or more differs
 * by one slip, a warning for any other unknown name that begins with CAPSTAN_.
 */
export function misspelt(given: string[], known: string[]): { faults: string[]; warnings: string[] } {
  const faults: string[] = [];
  const warnings: string[] = [];
  for (const name of given) {
    if (known.includes(name) || OF_OTHERS.includes(name)) continue;
    const meant = known.find((each) => each.length >= 8 && isOneSlip(name.toUpperCase(), each));
    if (meant) faults.push(`${name} is not a setting: did you mean ${meant}?`);
    else if (name.startsWith("CAPSTAN_") && !OF_SERVICES.test(name))
      warnings.push(
        `${name} is not a setting and does nothing. docs/reference/settings.md lists all settings.`,
      );
  }
  return { faults, warnings };
}

/** Names in which other programs look for a proxy. */
const OF_PROXIES = /^(https?|all)_proxy$/i;

/** Warnings about proxy settings that do nothing although they are set, or that are unsafe. */
export function proxyWarnings(settings: Env, given: string[]): string[] {
  const { OUTGOING_PROXY, OUTGOING_NO_PROXY, OUTGOING_PROXY_RESOLVES } = settings;
  const named = (pattern: RegExp) => given.filter((name) => pattern.test(name)).join(", ");
  const [proxies, exceptions] = [named(OF_PROXIES), named(/^no_proxy$/i)];
  const warnings: string[] = [];
  if (!OUTGOING_PROXY && proxies)
    warnings.push(
      `${proxies}: Capstan does not read it. To reach providers through a proxy, set OUTGOING_PROXY.`,
    );
  if (OUTGOING_PROXY && exceptions && OUTGOING_NO_PROXY.length === 0)
    warnings.push(
      `${exceptions}: Capstan does not read it. To reach hosts without the proxy, set OUTGOING_NO_PROXY.`,
    );
  if (OUTGOING_PROXY_RESOLVES)
    warnings.push(
      "OUTGOING_PROXY_RESOLVES=1 is unsafe: names that callers supply may lead to private addresses through the proxy. Let the proxy refuse those.",
    );
  return warnings;
}

/** True if the names are equal, or differ by one character that is added, missing, changed, or swapped with the next. */
function isOneSlip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [restA, restB] = [a.slice(at), b.slice(at)];
  const isSwapped = restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2);
  return (
    restA.slice(1) === restB.slice(1) || restA.slice(1) === restB || restA === restB.slice(1) || isSwapped
  );
}
