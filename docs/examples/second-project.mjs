/*
 * Sets up a project with a management key, over /v1 alone: a key for an agent, a budget, two OpenAI-compatible servers, a webhook
 * and an approval threshold. It looks before it changes anything, so running it again changes nothing.
 *
 *   CAPSTAN_URL=http://localhost:3000 CAPSTAN_MANAGEMENT_KEY=cap_management_… CAPSTAN_PROJECT=cpr_… \
 *     SETUP="$(cat setup.json)" node docs/examples/second-project.mjs
 */
import { pathToFileURL } from "node:url";

/**
 * Brings a project to what `setup` says, by the function `ask(method, path, body)`. Returns what it changed, and the new key
 * where it created one: a key is shown only once.
 */
export async function setUp(ask, projectId, setup) {
  const changed = [];
  let apiKey = null;
  const change = async (what, method, path, body) => {
    const answer = await ask(method, path, body);
    changed.push(what);
    return answer;
  };
  const inProject = `projectId=${projectId}`;

  const keys = await ask("GET", `/v1/api-keys?${inProject}`);
  const works = ({ expiresAt }) => !expiresAt || Date.parse(expiresAt) > Date.now();
  if (!keys.items.some((each) => each.name === setup.key.name && works(each)))
    ({ apiKey } = await change("key", "POST", "/v1/api-keys", { ...setup.key, projectId }));

  const { ceilingMicros, period, enforcement } = setup.budget;
  const budgets = await ask("GET", `/v1/budgets?${inProject}`);
  const isSet = (each) =>
    each.period === period && each.ceilingMicros === ceilingMicros && each.enforcement === enforcement;
  if (!budgets.items.some(isSet))
    await change("budget", "PUT", "/v1/budgets", { owner: { projectId }, ...setup.budget });

  const connections = await ask("GET", `/v1/connections?${inProject}`);
  for (const server of setup.servers)
    if (!connections.items.some(({ label }) => label === server.label))
      await change(`server ${server.label}`, "POST", "/v1/connections", {
        provider: "openai-compatible",
        projectId,
        ...server,
      });

  const endpoints = await ask("GET", `/v1/delivery-endpoints?${inProject}`);
  if (!endpoints.items.some(({ url, enabled }) => enabled && url === setup.webhook.url))
    await change("webhook", "POST", "/v1/delivery-endpoints", { ...setup.webhook, projectId });

  const rules = await ask("GET", `/v1/projects/${projectId}/approval-rules`);
  if (Object.entries(setup.approvals).some(([name, value]) => rules[name] !== value))
    await change("approval rules", "PUT", `/v1/projects/${projectId}/approval-rules`, setup.approvals);

  return { changed, apiKey };
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
