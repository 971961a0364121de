/*
 * Sets up a project with a management key, over /v1 alone: a key for an agent, a budget, two OpenAI-compatible servers, a webhook
 * and an approval threshold. It looks before it changes anything: running it again changes nothing, and with a changed price,
 * budget, webhook or threshold that alone. What cannot be changed is named in `differs`.
 *
 *   CAPSTAN_URL=http://localhost:3000 CAPSTAN_MANAGEMENT_KEY=cap_management_… CAPSTAN_PROJECT=cpr_… \
 *     SETUP="$(cat setup.json)" node docs/examples/second-project.mjs
 */
import { pathToFileURL } from "node:url";

const isSame = (one, other) => JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
const address = (url) => url.replace(/\/+$/, "");

/**
 * Brings a project to what `setup` says, by the function `ask(method, path, body)`. Returns what it changed, what differs and
 * cannot be changed, and the new key where it created one: a key is shown only once. A secret is never shown, so a changed one is
 * not seen. What `setup` does not name is left alone.
 */
export async function setUp(ask, projectId, setup) {
  const changed = [];
  const differs = [];
  let apiKey = null;
  const change = async (what, method, path, body) => {
    const answer = await ask(method, path, body);
    changed.push(what);
    return answer;
  };
  const inProject = `projectId=${projectId}`;

  const keys = await ask("GET", `/v1/api-keys?${inProject}`);
  const works = ({ expiresAt }) => !expiresAt || Date.parse(expiresAt) > Date.now();
  const key = keys.items.find((each) => each.name === setup.key.name && works(each));
  if (!key) ({ apiKey } = await change("key", "POST", "/v1/api-keys", { ...setup.key, projectId }));
  else if (setup.key.scopes && !isSame(key.scopes, setup.key.scopes))
    differs.push(`key ${key.name}: its scopes. Revoke ${key.keyId}, and run this again.`);

  const { ceilingMicros, period, enforcement } = setup.budget;
  const budgets = await ask("GET", `/v1/budgets?${inProject}`);
  const isSet = (each) =>
    each.period === period && each.ceilingMicros === ceilingMicros && each.enforcement === enforcement;
  if (!budgets.items.some(isSet))
    await change("budget", "PUT", "/v1/budgets", { owner: { projectId }, ...setup.budget });

  const connections = await ask("GET", `/v1/connections?${inProject}`);
  for (const server of setup.servers) {
    const found = connections.items.find(({ label }) => label === server.label);
    const body = { provider: "openai-compatible", ...server };
    const what = `server ${server.label}`;
    if (!found) await change(what, "POST", "/v1/connections", { ...body, projectId });
    else if (address(found.endpointUrl) !== address(server.endpointUrl))
      differs.push(`${what}: its address. Delete ${found.id}, and run this again.`);
    else if (found.models !== server.models)
      await change(what, "POST", `/v1/connections/${found.id}/rotate`, body);
  }

  const endpoints = await ask("GET", `/v1/delivery-endpoints?${inProject}`);
  const endpoint = endpoints.items.find(({ url }) => url === setup.webhook.url);
  const types = setup.webhook.eventTypes ?? [];
  if (!endpoint) await change("webhook", "POST", "/v1/delivery-endpoints", { ...setup.webhook, projectId });
  else if (!endpoint.enabled || !isSame(endpoint.eventTypes, types))
    await change("webhook", "PATCH", `/v1/delivery-endpoints/${endpoint.endpointId}`, {
      enabled: true,
      eventTypes: types,
    });

  const rules = await ask("GET", `/v1/projects/${projectId}/approval-rules`);
  if (Object.entries(setup.approvals).some(([name, value]) => rules[name] !== value))
    await change("approval rules", "PUT", `/v1/projects/${projectId}/approval-rules`, setup.approvals);

  return { changed, differs, apiKey };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const {
    CAPSTAN_URL = "http://localhost:3000",
    CAPSTAN_MANAGEMENT_KEY,
    CAPSTAN_PROJECT,
    SETUP,
  } = process.env;
  const ask = async (method, path, body) => {
    const answer = await fetch(CAPSTAN_URL + path, {
      method,
      headers: { authorization: `Bearer ${CAPSTAN_MANAGEMENT_KEY}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  console.log(JSON.stringify(await setUp(ask, CAPSTAN_PROJECT, JSON.parse(SETUP)), null, 2));
}
