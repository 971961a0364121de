import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CanaryHouse, openCanaryHouse, unique } from "@/testing/canary/house";
import { type Find, needlesOf, type Secret, sweep, type Text } from "@/testing/canary/sweep";

/*
 * Secrets that are like nothing else go through every door of a running installation, also where they do not belong and
 * where it refuses or fails; then everything it said and kept is searched for any piece of them.
 */

/** Where a secret belongs, and why. */
const BELONGS: { where: RegExp; secret: RegExp; because: string }[] = [
  {
    where: /^answer POST \/v1\/api-keys$/,
    secret: /^a key made over HTTP$/,
    because: "a key is shown once, to who makes it",
  },
  {
    where: /^answer POST \/v1\/api-keys\/\{key_id\}\/rotate$/,
    secret: /^a rotated key$/,
    because: "a key is shown once, to who rotates it",
  },
  {
    where: /^answer (POST .*\/jobs|GET \/v1\/jobs\/\{job_id\})$/,
    secret: /^(a private prompt|a manuscript|a prompt of which only hashes are kept)$/,
    because: "a job is answered with its own input, to whom it belongs",
  },
  {
    where: /delivery_endpoint|^answer \w+ \/v1\/delivery-endpoints/,
    secret: /^a token in a webhook's address$/,
    because: "the address is what its owner wrote, and is shown to them",
  },
];

let house: CanaryHouse;
const secrets: Secret[] = [];
const answers: Text[] = [];

const keep = (name: string, value: string): string => {
  secrets.push({ name, value });
  return value;
};

beforeAll(async () => {
  house = await openCanaryHouse();
  secrets.push(...house.secrets);
}, 300_000);
afterAll(() => house?.close(), 30_000);

type Ask = { key?: string; cookie?: string; body?: unknown; headers?: Record<string, string>; as?: string };

/** Asks the web process, and keeps the answer. Headers are kept with it, but for a cookie it sets. */
async function ask(method: string, target: string, { key, cookie, body, headers, as }: Ask = {}) {
  const answer = await fetch(new URL(target, house.url), {
    method,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(cookie ? { cookie, origin: "http://localhost:3000" } : {}),
      ...(body === undefined && !cookie ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const said = `${JSON.stringify([...answer.headers])}\n${text}`;
  answers.push({ where: `answer ${as ?? `${method} ${target.split("?")[0]}`}`, text: said });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  let json: any;
  try {
    json = JSON.parse(text);
  } catch {
    // not JSON
  }
  return { status: answer.status, text, json };
}

const TEXT = "text.general.fast.v1";
const say = (content: string) => ({ messages: [{ role: "user", content }] });

/** What the installation's people, keys and settings are. */
async function settle() {
  const { makeTenant } = await import("@/testing/api");
  const organizations = await import("@/server/domain/organizations");
  const { system } = await import("@/testing/tenants");
  const { personOf } = await import("@/testing/tenant-matrix/estate");
  const tenant = await makeTenant();
  keep("a key of a project", tenant.key);
  keep("a key of the organization", tenant.unboundKey);
  const password = keep("a password", `pa"ss w/ö${unique(30)}`);
  const email = `${unique(12)}@example.com`;
  await organizations.createUser(system, {
    email,
    organizationId: tenant.organizationId,
    role: "owner",
    password,
  });
  const owner = await personOf(tenant.organizationId, "owner");
  const cookie = owner.http.headers?.cookie ?? "";
  keep("a session", cookie.slice(cookie.indexOf("=") + 1));
  return { tenant, email, password, cookie };
}

/** Until `isDone` says so, or the time is up. */
async function until(isDone: () => Promise<boolean>, what: string, mostMs = 45_000): Promise<void> {
  const end = Date.now() + mostMs;
  while (!(await isDone())) {
    if (Date.now() > end) throw new Error(`in vain waited for ${what}`);
    await sleep(250);
  }
}

test("no piece of a secret is left anywhere but where it belongs", async () => {
  const { tenant, email, password, cookie } = await settle();
  const { endpoints } = await import("@/server/api/v1");
  const { pool } = await import("@/server/db");
  const { key, projectId, organizationId } = tenant;

  // Every endpoint: a secret where an id belongs, in a query, in a body that is no JSON and in one of the wrong fields.
  const pasted = keep("a key pasted where it does not belong", `cap_live_${unique(43)}_abcdef`);
  for (const { method, path, queryFields, body, form } of endpoints) {
    const as = `${method} ${path}`;
    const target = path.replace(/\{\w+\}/g, encodeURIComponent(pasted));
    const query = new URLSearchParams(queryFields.map(({ name }): [string, string] => [name, pasted]));
    const own = { key, as };
    await ask(method, target, own);
    await ask(
      method,
      `${target}?${query}&access_token=${pasted}`,
      method === "GET" ? own : { ...own, cookie, key: undefined },
    );
    await ask(method, target, { as, headers: { authorization: `Bearer ${pasted}` } });
    await ask(method, target, { as, headers: { authorization: `Basic ${btoa(`user:${pasted}`)}` } });
    await ask(method, target, { as, headers: { cookie: `capstan.session-token=${pasted}` } });
    if (!body && !form) continue;
    await ask(method, target, { ...own, body: `{"secret": "${pasted}` });
    await ask(method, target, { ...own, body: { [pasted]: { [pasted]: pasted } } });
    await ask(method, target, { ...own, body: `"${pasted}"`, headers: { "content-type": "text/plain" } });
    await ask(method, target, {
      as,
      cookie,
      body: { projectId: pasted, organizationId: pasted, url: pasted },
    });
  }
  await ask("POST", "/v1/delivery-endpoints", { key, body: `"${pasted.repeat(20_000)}"` });
  await ask("GET", `/v1/nothing/${pasted}`, { key });
  await ask("GET", `/page?token=${pasted}`);
  expect((await ask("GET", `/fails?token=${pasted}`)).status).toBe(500);

  // Keys: made, shown once, listed, rotated.
  const made = await ask("POST", "/v1/api-keys", { cookie, body: { name: "made", projectId } });
  keep("a key made over HTTP", made.json.apiKey);
  const rotated = await ask("POST", `/v1/api-keys/${made.json.keyId}/rotate`, {
    cookie,
    body: { overlapSeconds: 60 },
    as: "POST /v1/api-keys/{key_id}/rotate",
  });
  keep("a rotated key", rotated.json.apiKey);
  await ask("GET", "/v1/api-keys?includeRevoked=true", { cookie, as: "GET /v1/api-keys" });

  // Webhooks: a receiver that echoes what it is sent and fails.
  const hookSecret = keep("a webhook's secret", unique());
  const token = keep("a token in a webhook's address", unique());
  const hook = await ask("POST", "/v1/delivery-endpoints", {
    key,
    body: { url: `http://127.0.0.1:${house.echo.port}/hook?token=${token}`, secret: hookSecret },
  });
  expect(hook.status, hook.text).toBe(201);
  const userinfo = keep("a password in a webhook's address", unique());
  const refused = await ask("POST", "/v1/delivery-endpoints", {
    key,
    body: { url: `https://user:${userinfo}@hooks.example/in` },
  });
  expect(refused.status, refused.text).toBe(422);
  for (const query of [
    `https://user:${userinfo}@example.com/a.safetensors`,
    `https://huggingface.co/x?token=${pasted}`,
  ])
    await ask("POST", "/v1/adapters/source-preview", { key, body: { query } });

  // Work on the operator's account and on the organization's own, at a vendor that says back what it is sent.
  const content = {
    private: keep("a private prompt", `private ${unique()}`),
    manuscript: keep("a manuscript", `manuscript ${unique()}`),
    hashes: keep("a prompt of which only hashes are kept", `hashes ${unique()}`),
  };
  const contexts = {
    private: { dataClassification: "PrivateUserContent" },
    manuscript: { dataClassification: "Manuscript" },
    hashes: { retentionRequirement: "HashesOnly", dataClassification: "PrivateUserContent" },
  };
  const ways = ["", "say it in an error: ", "fall over: "];
  const openai = { executionConstraints: { providerPin: "openai" } };
  const jobIds: string[] = [];
  async function work() {
    for (const way of ways)
      for (const [kind, words] of Object.entries(content)) {
        const body = {
          input: say(way + words),
          context: contexts[kind as keyof typeof contexts],
          execution: openai,
        };
        const submitted = await ask("POST", `/v1/capabilities/${TEXT}/jobs`, { key, body });
        expect(submitted.status, submitted.text).toBe(200);
        jobIds.push(submitted.json.jobId);
      }
    const body = {
      input: say(`say it in an error: ${content.private}`),
      context: contexts.private,
      execution: openai,
    };
    await fetch(new URL(`/v1/capabilities/${TEXT}/invoke`, house.url), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const chat = { model: `${TEXT}@openai/gpt-5.6-luna`, messages: say(way(1)).messages };
    await ask("POST", "/v1/chat/completions", { key, body: chat });
    await ask("POST", "/v1/chat/completions", { key, body: { ...chat, stream: true } });
    await ask("POST", "/v1/inference/pinned", {
      key,
      body: { pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" }, input: way(1) },
    });
  }
  const way = (at: number) => ways[at] ?? "";
  await work();
  expect(jobIds.length).toBe(9);
  const ended = async () =>
    (
      await pool.query("SELECT FROM job WHERE status IN ('queued', 'running') AND project_id = $1", [
        projectId,
      ])
    ).rowCount === 0;
  await until(ended, "the jobs on the operator's account");

  const credentials = `/v1/organizations/${organizationId}/provider-credentials`;
  const as = { as: "provider-credentials", cookie };
  const account = (secret: string) => ({ provider: "openai", secret, label: "own" });
  const bad = await ask("POST", credentials, {
    ...as,
    body: account(keep("a refused account", `sk-refused-${unique()}`)),
  });
  expect(bad.status, bad.text).toBeGreaterThanOrEqual(400);
  const good = await ask("POST", credentials, {
    ...as,
    body: account(keep("an account's secret", `sk-${unique()}`)),
  });
  expect(good.status, good.text).toBeLessThan(300);
  const { credentialId } = good.json;
  await ask("POST", `${credentials}/${credentialId}/bindings`, {
    ...as,
    body: { projectId, environment: "development", provider: "openai" },
  });
  const next = account(keep("a rotated account's secret", `sk-${unique()}`));
  const turned = await ask("POST", `${credentials}/${credentialId}/rotate`, { ...as, body: next });
  expect(turned.status, turned.text).toBeLessThan(300);
  await ask("POST", `${credentials}/${credentialId}/rotate`, {
    ...as,
    body: account(keep("an account refused at its rotation", `sk-refused-${unique()}`)),
  });
  await ask("GET", credentials, as);
  await work();
  await until(ended, "the jobs on the organization's own account");

  // The panel: sign-in, right and wrong; invitations; its own procedures with secrets where they do not belong.
  await ask("POST", "/sign-in", { body: { email, password } });
  await ask("POST", "/sign-in", { body: { email, password: keep("a wrong password", `wrong ${unique()}`) } });
  const panel = (path: string, input: unknown, more: Ask = {}) =>
    ask("POST", `/api/trpc/${path}`, {
      headers: { "sec-fetch-site": "same-origin", origin: house.url },
      body: input as object,
      ...more,
    });
  const invited = await panel(
    "organizations.invite",
    { organizationId, email: "new@example.com" },
    { cookie },
  );
  expect(invited.status, invited.text).toBe(200);
  await until(async () => house.mail.received.length > 0, "the letter");
  const invitation = /#([\w-]{20,})/.exec(house.mail.received[0]?.text ?? "")?.[1] ?? "";
  keep("an invitation's token", invitation);
  await panel("organizations.lookAtInvitation", { token: invitation });
  await panel("organizations.lookAtInvitation", { token: pasted });
  const chosen = keep("a new password", `new ${unique()}`);
  await panel("organizations.acceptInvitation", { token: invitation, displayName: "New", password: chosen });
  await panel(
    "connections.connect",
    { project_id: projectId, provider: "openai", secret: pasted, wrong: pasted },
    { cookie },
  );
  await panel("jobs.cancel", { job_id: pasted }, { cookie });
  await ask("GET", `/api/trpc/jobs.get?input=${encodeURIComponent(JSON.stringify({ job_id: pasted }))}`, {
    cookie,
  });
  await ask("POST", "/v1/billing/wallet/top-up-session", { cookie, body: { amountMicros: 10_000_000 } });

  // MCP.
  const rpc = (name: string, args: object) =>
    ask("POST", "/mcp", {
      key,
      headers: { accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    });
  await rpc("job_status", { job_id: pasted });
  await rpc(pasted, {});
  await rpc("invoke", { capability_key: TEXT, request: { [pasted]: pasted } });

  // A database that fails under a request that carries a secret.
  for (const table of ["payload", "retail_quote"]) {
    await pool.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    const body = { input: say(content.private), context: contexts.private };
    const failed = await ask("POST", `/v1/capabilities/${TEXT}/${table === "payload" ? "jobs" : "quote"}`, {
      key,
      body,
    });
    expect(failed.status).toBe(500);
    await pool.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
  }
  await until(
    async () => ((await pool.query("SELECT FROM delivery_attempt")).rowCount ?? 0) > 0,
    "a webhook that was refused",
  );

  for (const jobId of jobIds)
    for (const part of ["", "/events", "/receipt", "/result"])
      await ask("GET", `/v1/jobs/${jobId}${part}`, { key, as: `GET /v1/jobs/{job_id}${part}` });
  // The vendor was really told them, so it could say them back.
  for (const { name, value } of secrets.filter(
    ({ name }) => name === "OPENAI_API_KEY" || name.includes("account"),
  ))
    expect(house.echo.heardKeys.has(value), name).toBe(true);

  const titles = house.titles();
  await house.endProcesses();
  const texts = [...answers, ...titles, ...(await house.rows()), ...house.files()];
  const logs = texts.filter(({ where }) => where.startsWith("log of"));
  expect(logs.map(({ text }) => text.length > 1_000)).not.toContain(false);
  // What lists show of a key, so that people know it again.
  const shown = [tenant.key, tenant.unboundKey, made.json.apiKey, rotated.json.apiKey].map((text: string) =>
    text.slice(0, made.json.prefix.length),
  );
  const needles = needlesOf(secrets, shown.join(" "));
  const finds = sweep(texts, needles);
  const isRight = ({ where, secret }: Find) =>
    BELONGS.some((each) => each.where.test(where) && each.secret.test(secret));
  for (const { where, secret } of BELONGS)
    expect(
      finds.some((find) => where.test(find.where) && secret.test(find.secret)),
      String(where),
    ).toBe(true);
  expect(finds.filter((find) => !isRight(find))).toEqual([]);
}, 300_000);

test("control: the sweep finds a planted secret, a piece of it, and each of its forms", () => {
  const value = `sk-${unique()}`;
  const needles = needlesOf([
    { name: "planted", value },
    { name: "odd", value: `"q/ö ${unique()}` },
  ]);
  const around = (text: string) => [{ where: "x", text: `before ${text} after` }];
  const forms = (text: string) => sweep(around(text), needles).map(({ secret }) => secret);
  for (const before of ["", "a", "ab"])
    for (const encoding of ["base64", "base64url", "hex"] as const)
      expect(forms(JSON.stringify({ x: Buffer.from(`${before}${value}tail`).toString(encoding) }))).toEqual([
        "planted",
      ]);
  expect(forms(Buffer.from(value).toString("hex").toUpperCase())).toEqual(["planted"]);
  for (let at = 0; at + 12 <= value.length; at++)
    expect(forms(value.slice(at, at + 12))).toEqual(["planted"]);
  expect(forms(unique())).toEqual([]);
  const odd = `"q/ö ${unique()}`;
  const own = needlesOf([{ name: "odd", value: odd }]);
  for (const text of [JSON.stringify(odd), encodeURIComponent(odd), odd])
    expect(sweep(around(text), own)).toHaveLength(1);
});
