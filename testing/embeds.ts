import type { EmbedTerms } from "@/server/contract/embeds";
import type { Call, Tenant } from "./api";
import { call } from "./api";

/** The terms of a session without a definition. */
export const OPEN_TERMS: EmbedTerms = {
  capabilityKey: null,
  lockedInputs: {},
  initialInputs: {},
  policy: null,
};

export const HOST = "https://host.example";

export type OpenPanel = {
  sessionId: string;
  accessToken: string;
  /** The options of a call from a page of the session's origin. */
  as(options?: Call): Call;
  get(target: string, options?: Call): ReturnType<typeof call>;
  post(target: string, body?: unknown, options?: Call): ReturnType<typeof call>;
};

/** Defines an embed of a capability, with these parts changed. */
export async function definePanel(tenant: Tenant, more: Record<string, unknown> = {}) {
  const key = `panel-${Math.random().toString(36).slice(2)}`;
  const body = {
    key,
    displayName: "A panel",
    capabilityKey: "text.general.fast.v1",
    projectId: tenant.projectId,
  };
  const made = await tenant.post("/v1/panel-definitions", { ...body, ...more });
  if (made.status !== 200) throw new Error(made.text);
  return made.json as { id: string; key: string; currentVersion: { id: string; version: number } };
}

/** Opens a session of the tenant's project, with the token for a page at HOST. */
export async function openPanel(tenant: Tenant, more: Record<string, unknown> = {}): Promise<OpenPanel> {
  const body = { projectId: tenant.projectId, allowedOrigins: [HOST], maxSpendMicros: 10_000_000 };
  const made = await tenant.post("/v1/panel-sessions", { ...body, ...more });
  if (made.status !== 200) throw new Error(made.text);
  const { sessionId, accessToken } = made.json as { sessionId: string; accessToken: string };
  const as = (options: Call = {}): Call => ({
    key: accessToken,
    ...options,
    headers: { origin: HOST, ...options.headers },
  });
  return {
    sessionId,
    accessToken,
    as,
    get: (target, options) => call("GET", target, as(options)),
    post: (target, sent, options) => call("POST", target, as({ body: sent, ...options })),
  };
}

/** True for an endpoint of embeds. */
export const isOfPanels = (path: string) => path.startsWith("/v1/panel");

export type Panels = {
  /** A page's request with the token of an active session. */
  page: Call;
  /** A request to one of these endpoints that succeeds, or, for an exchange, is answered Gone. */
  sample(method: string, path: string): { method: string; target: string; body?: unknown };
};

/** An embed of a tenant with a session that tests revoke repeatedly, and one that stays active. */
export async function openPanels(tenant: Tenant): Promise<Panels> {
  const { id } = await definePanel(tenant);
  const [living, ended] = [await openPanel(tenant), await openPanel(tenant)];
  let made = 0;
  const bodyOf = (method: string, path: string): unknown => {
    if (path.endsWith("/exchange")) return { code: "plc_none" };
    if (method === "PATCH") return { displayName: "A panel" };
    if (method !== "POST") return undefined;
    if (path === "/v1/panel-definitions") return { key: `sample-${++made}-${id}`, displayName: "Another" };
    return path === "/v1/panel-sessions"
      ? { projectId: tenant.projectId, allowedOrigins: [HOST], maxSpendMicros: 1_000_000 }
      : undefined;
  };
  return {
    page: living.as(),
    sample: (method, path) => {
      const body = bodyOf(method, path);
      const session = path.endsWith("/revoke") ? ended : living;
      const target = path.replace("{definition_id}", id).replace("{session_id}", session.sessionId);
      return { method, target, ...(body ? { body } : {}) };
    },
  };
}
