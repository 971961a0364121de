import { createClient } from "../client";
import { CapstanError } from "../errors";
import { type Common, clientOf, commandSettings, readSaved } from "./settings";
import { Ended, EXIT_CODES, type Terminal } from "./terminal";

/** Shows the key's identity, project and environment. */
export async function whoami(terminal: Terminal, options: Common): Promise<void> {
  const client = clientOf(options);
  const [session, place] = await Promise.all([
    client.get("/v1/diagnostics/session"),
    client.get("/v1/session/context"),
  ]);
  const { account } = place.identity;
  const saved = readSaved();
  const login =
    saved.sessionId && saved.keyId === session.principalId
      ? { account: saved.account, sessionId: saved.sessionId, endsAt: saved.sessionEndsAt }
      : null;
  const lines = [
    `${account} (${session.principalKind} ${session.principalId})`,
    ...(login ? [`login         ${login.account}, ${login.sessionId} until ${login.endsAt}`] : []),
    `organization  ${place.organization?.displayName ?? "none"} ${place.organization?.id ?? ""}`,
    `project       ${place.project ? `${place.project.displayName} ${place.project.id}` : "set by each request"}`,
    `environment   ${session.environment}`,
    `scopes        ${session.scopes.join(" ")}`,
    `expires       ${session.expiresAt ?? "never"}`,
    `service       ${commandSettings(options).baseUrl} ${session.apiVersion}`,
  ];
  terminal.answer({ ...session, context: place, login }, lines.join("\n"));
}

type Check = { name: string; ok: boolean; detail: string; next?: string };

/** Checks the service, the key, this machine's clock, and whether the project and these capabilities are ready. */
export async function doctor(terminal: Terminal, options: Common, capabilities: string[]): Promise<void> {
  const settings = commandSettings(options);
  const checks: Check[] = [];
  const client = createClient({ ...settings, retry: { attempts: 1 } });
  const check = async (name: string, next: string, work: () => Promise<string>) => {
    try {
      checks.push({ name, ok: true, detail: await work() });
      return true;
    } catch (error) {
      checks.push({ name, ok: false, detail: error instanceof Error ? error.message : String(error), next });
      return false;
    }
  };
  const isThere = await check(
    "healthz",
    "Check CAPSTAN_BASE_URL or --base-url, and that the service is running.",
    async () => {
      const response = await client.fetch("/healthz");
      const { status } = (await response.json()) as { status?: string }; // `status` is checked below
      if (status !== "ok") throw new Error(`The service reports the status ${String(status)}.`);
      return settings.baseUrl;
    },
  );
  if (isThere) {
    await check("readyz", "The service is running but not ready. Contact its operator.", async () => {
      await client.fetch("/readyz");
      return "ready";
    });
    const isKey = await check("session", "Run `capstan login`, or set CAPSTAN_API_KEY.", async () => {
      if (!settings.apiKey) throw new Error("No API key is set.");
      const { principalId, scopes, projectId, expiresAt } = await client.get("/v1/diagnostics/session");
      return `${principalId}, ${projectId ?? "not bound to a project"}, ${scopes.length} scopes, expires ${expiresAt ?? "never"}`;
    });
    if (isKey) {
      await check("clock", "Correct this machine's clock; expiry times depend on it.", async () => {
        const asked = Date.now();
        const { serverTime } = await client.get("/v1/diagnostics/session");
        const skew = Math.round((Date.parse(serverTime) - (asked + Date.now()) / 2) / 1000);
        if (Math.abs(skew) > 30)
          throw new Error(`This machine's clock is ${Math.abs(skew)} s ${skew > 0 ? "behind" : "ahead"}.`);
        return `within ${Math.max(1, Math.abs(skew))} s`;
      });
      await readiness(client, settings.projectId, capabilities, checks);
    }
  }
  const ready = checks.every(({ ok }) => ok);
  const lines = checks.flatMap(({ name, ok, detail, next }) => [
    `${ok ? "ok   " : "FAIL "}  ${name.padEnd(12)}  ${detail}`,
    ...(next ? [`       ${"".padEnd(12)}  ${next}`] : []),
  ]);
  const last = ready
    ? 'Everything is ready. Try: capstan run compute.evaluate.v1 --input \'{"expression": "2 + 2"}\''
    : "";
  terminal.answer({ ready, checks }, [...lines, ...(last ? ["", last] : [])].join("\n"));
  if (!ready) throw new Ended(isThere ? EXIT_CODES.failed : EXIT_CODES.unavailable);
}

async function readiness(
  client: ReturnType<typeof createClient>,
  projectId: string | undefined,
  capabilities: string[],
  checks: Check[],
): Promise<void> {
  const query = { ...(projectId ? { projectId } : {}), ...(capabilities.length > 0 ? { capabilities } : {}) };
  try {
    const found = await client.get("/v1/diagnostics/readiness", { params: { query } });
    for (const { name, ok, detail } of found.checks)
      checks.push({ name, ok, detail, ...(ok ? {} : { next: NEXT[name] }) });
    for (const { capabilityKey, ready, known, nearestMatches, accessDecision } of found.capabilities) {
      const near = known
        ? (accessDecision?.reason ?? "")
        : `unknown; nearest: ${nearestMatches?.join(", ") ?? "none"}`;
      checks.push({ name: "capability", ok: ready, detail: `${capabilityKey} ${near}`.trim() });
    }
  } catch (error) {
    if (!(error instanceof CapstanError)) throw error;
    checks.push({
      name: "readiness",
      ok: false,
      detail: error.message,
      next: "Use a key with the scope diagnostics:read.",
    });
  }
}

const NEXT = {
  project: "Set a project: --project cpr_…",
  permission: "Ask an admin for a key with the missing scopes.",
  provider: "Connect a provider account in the panel, or ask the operator.",
  funding: "Top up the wallet on the panel's Billing page, or connect your own account.",
};
