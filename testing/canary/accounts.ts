import { unique } from "./house";
import type { Visit } from "./visit";

/**
 * Connects and rotates an organization's own accounts through the API and the panel, also with refused secrets; the last
 * account stays bound to the project.
 */
export async function connectAccounts(
  { keep, must, ask, mustDo }: Visit,
  { cookie, organizationId, projectId }: { cookie: string; organizationId: string; projectId: string },
): Promise<void> {
  const own = `/v1/organizations/${organizationId}/provider-credentials`;
  let count = 0;
  const good = () => keep(`an account's secret ${++count}`, `sk-${unique()}`);
  const bad = () => keep(`a refused account ${++count}`, `sk-refused-${unique()}`);
  const account = (secret: string) => ({ provider: "openai", secret, label: "own" });
  const sent = (body: object) => ({ cookie, body });

  await ask("POST", own, sent(account(bad())));
  const { credentialId } = await must("POST", own, sent(account(good())));
  await must("POST", `${own}/${credentialId}/rotate`, sent(account(good())));
  await ask("POST", `${own}/${credentialId}/rotate`, sent(account(bad())));
  await must("GET", own, { cookie });

  const connect = (secret: string) => ({
    provider: "openai",
    label: "own",
    projectId,
    replaceExisting: true,
    secret,
  });
  await ask("POST", "/v1/connections", sent(connect(bad())));
  const { id } = (await must("POST", "/v1/connections", sent(connect(good())))).connection;
  await must(
    "POST",
    `/v1/connections/${id}/rotate`,
    sent({ provider: "openai", credentials: { apiKey: good() } }),
  );
  await must("POST", `/v1/connections/${id}/test`, { cookie, body: {} });
  await must("GET", `/v1/connections/${id}`, { cookie });
  await must("DELETE", `/v1/connections/${id}`, { cookie });

  const wanted = { capabilities: ["text.general.fast.v1"], projectId };
  const session = await must("POST", "/v1/connections/onboarding/sessions", sent(wanted));
  const complete = `/v1/connections/onboarding/sessions/${session.sessionId}/complete`;
  await ask("POST", complete, sent({ provider: "openai", secret: bad(), label: "own" }));
  await must("POST", complete, sent({ provider: "openai", secret: good(), label: "own" }));
  for (const one of (await must("GET", "/v1/connections", { cookie })).items)
    await must("DELETE", `/v1/connections/${one.id}`, { cookie });

  const inProject = `/v1/projects/${projectId}/provider-credentials`;
  const first = await must("POST", inProject, sent(account(good())));
  await must("DELETE", `/v1/connections/${first.credentialId}`, { cookie });
  const connected = await mustDo(
    "connections.connect",
    { project_id: projectId, ...account(good()) },
    cookie,
  );
  const path = { organization_id: organizationId, credential_id: connected.credentialId };
  await mustDo("connections.rotate", { ...path, ...account(good()) }, cookie);
}

/**
 * Webhooks with secrets, created and changed through the API and the panel. The vendor's stand-in refuses the deliveries and
 * echoes them.
 */
export async function makeWebhooks(
  { keep, must, ask, mustDo, house }: Visit,
  { key, cookie, projectId }: { key: string; cookie: string; projectId: string },
): Promise<void> {
  const to = (token: string) => `http://127.0.0.1:${house.echo.port}/hook?token=${token}`;
  const address = () => to(keep("a token in a webhook's address", token));
  const token = unique();
  const secret = () => keep(`a webhook's secret ${++count}`, unique());
  let count = 0;
  const hook = await must("POST", "/v1/delivery-endpoints", {
    key,
    body: { url: address(), secret: secret() },
  });
  await must("PATCH", `/v1/delivery-endpoints/${hook.endpointId}`, { key, body: { secret: secret() } });
  const other = await mustDo("webhooks.create", { projectId, url: address(), secret: secret() }, cookie);
  await mustDo("webhooks.update", { endpoint_id: other.endpointId, secret: secret() }, cookie);
  const userinfo = keep("a password in a webhook's address", unique());
  await ask("POST", "/v1/delivery-endpoints", {
    key,
    body: { url: `https://user:${userinfo}@hooks.example/in` },
  });
  const query = `https://user:${userinfo}@example.com/a.safetensors`;
  await ask("POST", "/v1/adapters/source-preview", { key, body: { query } });
}

/** Draws with the organization's own weights at a vendor that fetches them, refuses, and quotes their URL. */
export async function drawWithWeights(visit: Visit, key: string): Promise<void> {
  const { keep, must, ask, until, pool, house } = visit;
  const { uploadOf } = await import("@/testing/forms");
  const form = uploadOf();
  const adapter = await must("POST", "/v1/adapters/upload", {
    key,
    body: form.bytes,
    headers: { "content-type": form.contentType },
  });
  const { jobId } = await must("POST", "/v1/capabilities/image.generate.v1/jobs", {
    key,
    body: { input: { prompt: "A stone", adapters: [{ adapterId: adapter.adapterId }] }, providerPin: "fal" },
  });
  const ended = "SELECT FROM job WHERE id = $1 AND status IN ('succeeded', 'failed')";
  await until(async () => (await pool.query(ended, [jobId])).rowCount === 1, "the job with weights");
  const heard =
    house.echo.heard.map(({ text }) => /adapter-weights\/([\w.-]+)/.exec(text)?.[1]).find(Boolean) ?? "";
  const [mac = ""] = heard.split(".").slice(-2);
  keep("the signature of a link of weights", mac);
  await must("GET", `/v1/adapter-weights/${heard}`);
  await ask("GET", `/v1/adapter-weights/${heard.replace(mac, `${mac.slice(0, -2)}xx`)}`);
  for (const part of ["", "/events", "/receipt", "/result"])
    await ask("GET", `/v1/jobs/${jobId}${part}`, { key });
}
