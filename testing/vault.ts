import * as credentials from "@/server/domain/connections";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { setSettings } from "@/testing/settings";
import { type Call, call, makeTenant, sessionHeaders, type Tenant } from "./api";
import { system } from "./tenants";

/** The vendor's list of models, which a connection check requests. */
export const MODELS = { json: { object: "list", data: [] } };
/** The vendor's answer to a question about the sea. */
export const ANSWER = {
  json: {
    id: "resp_1",
    model: "gpt-5.6-luna",
    status: "completed",
    output: [{ type: "message", content: [{ type: "output_text", text: "Eleven kilometres." }] }],
    usage: { input_tokens: 20, output_tokens: 5 },
  },
};
export const SECRET = "sk-test-canary-1f0c9a7be2";

export type Vault = {
  tenant: Tenant;
  /** An owner of the tenant's organization, signed in. */
  owner: Call;
  /** The vendor in OpenAI's place, as this installation reaches it. */
  vendor: Vendor;
  path: string;
  /** Connects another credential, bound to the tenant's project; it replaces the earlier one. */
  connect(): Promise<{ credentialId: string; bindingId: string }>;
  /** A request to an endpoint of credentials that succeeds; a DELETE uses up a spare credential. */
  sample(method: string, path: string): { method: string; target: string; body?: unknown };
  close(): Promise<void>;
};

/** Lets this installation reach a vendor on this machine in OpenAI's place, until it is closed. */
export async function vendorAsOpenAi(): Promise<{ vendor: Vendor; close(): Promise<void> }> {
  const { OPENAI_BASE_URL, ALLOW_PRIVATE_ADDRESSES } = env;
  const vendor = await startVendor();
  vendor.answer(MODELS);
  setSettings({ OPENAI_BASE_URL: vendor.url });
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
  return {
    vendor,
    close: () => {
      setSettings({ OPENAI_BASE_URL, ALLOW_PRIVATE_ADDRESSES });
      return vendor.stop();
    },
  };
}

const SPARE = 24;

/** True for an endpoint of credentials or connections. */
export const isOfVault = ({ path }: { path: string }) =>
  path.includes("/provider-credentials") || path.startsWith("/v1/connections");

/** A tenant that connects its own accounts at a vendor on this machine. */
export async function openVault(): Promise<Vault> {
  const { vendor, close } = await vendorAsOpenAi();
  const tenant = await makeTenant();
  const { organizationId, projectId } = tenant;
  const path = `/v1/organizations/${organizationId}/provider-credentials`;
  const provider = "openai";
  const connect = async () => {
    const place = { projectId, environment: "development", replaces: true };
    const { credentialId } = await credentials.createCredential(
      system,
      organizationId,
      { provider, secret: SECRET, label: "default" },
      { places: [] },
    );
    const bound = await credentials.bindCredential(system, organizationId, credentialId, {
      input: {
        ...place,
        provider,
      },
    });
    return { credentialId, bindingId: bound.bindingId };
  };
  const kept = await connect();
  // An environment has only one credential per provider, so the spares are of other providers.
  const spares = await makeSpares(organizationId, projectId);
  const owner = { headers: await sessionHeaders(organizationId, "owner") };
  const wanted = { capabilities: ["text.general.fast.v1"], projectId };
  const session = await call("POST", "/v1/connections/onboarding/sessions", { ...owner, body: wanted });
  return {
    tenant,
    owner,
    vendor,
    path,
    connect,
    sample(method, template) {
      const isGone = method === "DELETE";
      const one = isGone ? (spares.shift() ?? kept) : kept;
      const target = template
        .replace("{organization_id}", organizationId)
        .replace("{project_id}", projectId)
        .replace("{session_id}", session.json.sessionId)
        .replace(/\{(credential|connection)_id\}/, one.credentialId)
        .replace("{binding_id}", one.bindingId);
      if (method !== "POST" || /\/(test|repair)$/.test(target)) return { method, target };
      if (/\/onboarding\/(plan|sessions)$/.test(target)) return { method, target, body: wanted };
      if (target.endsWith("/complete")) return { method, target, body: { provider, autoBind: false } };
      if (target.startsWith("/v1/projects"))
        return { method, target, body: { provider, secret: SECRET, environments: [] } };
      const body = target.endsWith("/bindings")
        ? { projectId, environment: "development", provider }
        : { provider, secret: SECRET };
      return { method, target, body };
    },
    close,
  };
}

/** Credentials of providers that this installation no longer has; tests may delete their rows. */
async function makeSpares(organizationId: string, projectId: string) {
  return Promise.all(
    Array.from({ length: 2 * SPARE }, async (_, position) => {
      const [credentialId, bindingId] = [newId("credential"), newId("binding")];
      const provider = `former-${position}`;
      await pool.query(
        `INSERT INTO credential (id, organization_id, provider, label, sealed, last4, fingerprint, base_url, status, created_at)
         VALUES ($1, $2, $3, 'spare', '{}', '', '', 'https://former.example', 'ready', now())`,
        [credentialId, organizationId, provider],
      );
      await pool.query(
        `INSERT INTO credential_binding (id, credential_id, organization_id, project_id, environment, provider, created_at)
         VALUES ($1, $2, $3, $4, 'development', $5, now())`,
        [bindingId, credentialId, organizationId, projectId, provider],
      );
      return { credentialId, bindingId };
    }),
  );
}
