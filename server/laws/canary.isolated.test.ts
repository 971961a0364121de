import { expect, onTestFinished, test } from "vitest";
import { connectAccounts, drawWithWeights, makeWebhooks } from "@/testing/canary/accounts";
import { killBetweenSteps } from "@/testing/canary/deaths";
import {
  doorsOfSecrets,
  knockAtAdmin,
  knockAtApi,
  knockAtModels,
  knockAtPanel,
  knockAtTools,
} from "@/testing/canary/doors";
import { openPanels } from "@/testing/canary/embeds";
import { type CanaryHouse, openCanaryHouse, unique } from "@/testing/canary/house";
import { changeOwnSecrets, invite, signDeviceIn, signInByProvider } from "@/testing/canary/people";
import { type Find, needlesOf, sweep } from "@/testing/canary/sweep";
import { beginVisit, type Visit } from "@/testing/canary/visit";

/*
 * Unique secrets go through every entry of a running installation, also where they do not belong and where it refuses, fails or
 * dies. Then all that it sent and stored is searched for any piece of them.
 */

/** Places where a secret belongs, and the reason. */
const BELONGS: { where: RegExp; secret: RegExp; because: string }[] = [
  {
    where: /^answer POST (\/v1\/api-keys|\/api\/trpc\/keys\.create(Management)?)$|^admin key create$/,
    secret: /^a (key made (over HTTP|in the panel|by the operator)|management key)$/,
    because: "a key is shown once, to who makes it",
  },
  {
    where: /^answer POST (\/v1\/api-keys\/\{key_id\}\/rotate|\/api\/trpc\/organizations\.rotateKey)$/,
    secret: /^a rotated key/,
    because: "a key is shown once, to who rotates it",
  },
  {
    where: /^answer POST \/v1\/auth\/device\/start$/,
    secret: /^a code of a device$/,
    because: "the device that asks gets its code, once",
  },
  {
    where: /^answer POST \/v1\/auth\/device\/token$/,
    secret: /^a (session of a device|token against forged requests)$/,
    because: "a device gets its token once, when it was approved",
  },
  {
    where: /^answer POST \/v1\/panel-sessions$/,
    secret: /^a session of a panel$/,
    because: "who opens a session of a panel gets its token, once",
  },
  {
    where: /^answer POST \/v1\/panel-sessions\/\{session_id\}\/launch-codes$/,
    secret: /^a launch code$/,
    because: "a launch code is shown once, to who asks for it",
  },
  {
    where: /^answer POST \/v1\/panel\/launch-codes\/exchange$/,
    secret: /^a session of a panel by its launch code$/,
    because: "the frame that has the code gets the token, once",
  },
  {
    where: /^answer POST \/api\/trpc\/account\.startSecondFactor$/,
    secret: /^(a secret of an authenticator|the address of its QR code)$/,
    because: "an authenticator has to learn its secret, once",
  },
  {
    where: /^answer POST \/api\/trpc\/account\.(confirmSecondFactor|renewRecoveryCodes)$/,
    secret: /^the recovery code/,
    because: "recovery codes are shown once, to be kept elsewhere",
  },
  {
    where: /^answer \/api\/auth\/callback\/oidc$/,
    secret: /^a session by a provider$/,
    because: "the browser that comes back signed in is given its session",
  },
  {
    where: /^a letter$/,
    secret: /^an invitation's token$/,
    because: "invited people come by the link of the letter",
  },
  {
    where: /^answer (POST .*\/jobs|GET \/v1\/jobs\/\{job_id\})$/,
    secret: /^(a private prompt|a manuscript|a prompt of which only hashes are kept)$/,
    because: "a job is answered with its own input, to whom it belongs",
  },
  {
    where:
      /delivery_endpoint|^answer \w+ \/v1\/delivery-endpoints|^answer POST \/api\/trpc\/webhooks\.(create|update)$/,
    secret: /^a token in a webhook's address$/,
    because: "the address is what its owner wrote, and is shown to them",
  },
  {
    where:
      /^answer (POST \/v1\/delivery-endpoints|PATCH \/v1\/delivery-endpoints\/\{endpoint_id\}|POST \/api\/trpc\/webhooks\.(create|update))$/,
    secret: /^a webhook's secret \d+$/,
    because: "who gives a text as a secret gets it once in the form that libraries take",
  },
  {
    where: /^what a webhook brought$/,
    secret: /^a token in a webhook's address$/,
    because: "it is brought to that address",
  },
  {
    where: /^what a vendor received$/,
    secret:
      /^(OPENAI_API_KEY|FAL_API_KEY|STRIPE_SECRET_KEY|(an account's secret|a refused account) \d+|the signature of a link of weights|a private prompt|a manuscript|a prompt of which only hashes are kept)$/,
    because: "a vendor is asked on an account, with what it is to work on",
  },
];

let house: CanaryHouse;
let visit: Visit;

const TEXT = "text.general.fast.v1";
const say = (content: string) => ({ messages: [{ role: "user", content }] });
const PASSWORD = `pa"ss w/ö${unique(30)}`;

/** The part of a session's token that is its own: all tokens begin alike, as do those of a sign-in in progress. */
const sealedPart = (token: string) => token.split("..")[1];

/** Creates a tenant, another organization, their keys, people and sessions, and registers each secret. */
async function settle() {
  const { makeTenant } = await import("@/testing/api");
  const organizations = await import("@/server/domain/organizations");
  const { system } = await import("@/testing/tenants");
  const { cookieOf } = await import("@/testing/sessions");
  const { keep } = visit;
  const tenant = await makeTenant();
  keep("a key of a project", tenant.key);
  keep("a key of the organization", tenant.unboundKey);
  const password = keep("a password", PASSWORD);
  const email = `${unique(12)}@example.com`;
  const person = (address: string, organizationId: string) =>
    organizations.createUser(system, { email: address, organizationId, role: "owner", password });
  const owner = await person(email, tenant.organizationId);
  const cookie = await cookieOf(owner.userId);
  keep("a session", sealedPart(cookie));
  const elsewhere = await organizations.createOrganization(system, { name: "Elsewhere" });
  const walker = await person(`${unique(12)}@example.com`, elsewhere.organizationId);
  const walkersCookie = await cookieOf(walker.userId);
  keep("another's session", sealedPart(walkersCookie));
  /**
   * The session of a user who tries every procedure. A procedure about an account may end the session, so it gets a fresh one.
   */
  const cookieNow = async (procedure: string) =>
    procedure.startsWith("account.") ? cookieOf(walker.userId) : walkersCookie;
  return { tenant, email, password, cookie, cookieNow };
}

test("no piece of a secret is left anywhere but where it belongs", {
  tags: "long",
  timeout: 300_000,
}, async () => {
  house = await openCanaryHouse();
  onTestFinished(() => house.close());
  visit = await beginVisit(house);
  const { keep, ask, must, mustDo, procedure, tool, until, hear, pool } = visit;
  const { tenant, email, password, cookie, cookieNow } = await settle();
  const { key, projectId, organizationId } = tenant;

  const pasted = keep("a key pasted where it does not belong", `cap_live_zQ7${unique(40)}_abcdef`);
  await knockAtApi(visit, { key, cookie }, pasted);
  await knockAtPanel(visit, cookieNow, pasted);
  await knockAtTools(visit, key, pasted);
  await knockAtModels(visit, key, pasted);
  await knockAtAdmin(visit, pasted);
  expect((await ask("GET", `/fails?token=${pasted}`)).status).toBe(500);

  // Keys are made through every entry, shown once, listed and rotated.
  const made = await must("POST", "/v1/api-keys", { cookie, body: { name: "made", projectId } });
  const { keyId } = made;
  const inPanel = await mustDo("keys.create", { name: "panel", projectId }, cookie);
  const grant = { organizationId, projectIds: [projectId], scopes: ["settings:write"] };
  const managing = await mustDo(
    "keys.createManagement",
    { name: "managing", ...grant, expiresInSeconds: 60 },
    cookie,
  );
  const { runAdmin } = await import("@/scripts/admin/command");
  const { out } = await runAdmin(["key", "create", "--project", projectId, "--name", "admin", "--json"]);
  hear("admin key create", out);
  const rotated = await must("POST", `/v1/api-keys/${keyId}/rotate`, {
    cookie,
    body: { overlapSeconds: 60 },
  });
  const again = await mustDo("organizations.rotateKey", { keyId: inPanel.keyId }, cookie);
  const keys: Record<string, string> = {
    "a key made over HTTP": made.apiKey,
    "a key made in the panel": inPanel.apiKey,
    "a management key": managing.apiKey,
    "a key made by the operator": JSON.parse(out).apiKey,
    "a rotated key": rotated.apiKey,
    "a rotated key of the panel": again.apiKey,
  };
  for (const [name, value] of Object.entries(keys)) keep(name, value);
  await must("GET", "/v1/api-keys?includeRevoked=true", { cookie });

  await openPanels(visit, { key, projectId });
  await makeWebhooks(visit, { key, cookie, projectId });
  await drawWithWeights(visit, key);

  // Work runs on the operator's account and on the organization's own, at a vendor that echoes what it is sent.
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
  const ways = ["", "say it in an error: ", "fall over: "] as const;
  const openai = { executionConstraints: { providerPin: "openai" } };
  const jobIds: string[] = [];
  const privately = (words: string) => ({
    input: say(words),
    context: contexts.private,
    execution: openai,
  });
  async function work() {
    for (const way of ways)
      for (const [kind, words] of Object.entries(content)) {
        const body = {
          input: say(way + words),
          context: contexts[kind as keyof typeof contexts],
          execution: openai,
        };
        jobIds.push((await must("POST", `/v1/capabilities/${TEXT}/jobs`, { key, body })).jobId);
      }
    const chat = { model: `${TEXT}@openai/gpt-5.6-luna`, messages: say(ways[1]).messages };
    await ask("POST", "/v1/chat/completions", { key, body: chat });
    await ask("POST", "/v1/chat/completions", { key, body: { ...chat, stream: true } });
    await ask("POST", "/v1/responses", { key, body: { model: chat.model, input: ways[1] } });
    await ask("POST", `/v1/capabilities/${TEXT}/invoke`, {
      key,
      body: privately(ways[1] + content.private),
    });
    await tool(key, "invoke", { capability_key: TEXT, request: privately(ways[1] + content.private) });
    const pin = { provider: "openai", model: "gpt-5.6-luna", api: "responses" };
    await ask("POST", "/v1/inference/pinned", { key, body: { pin, input: ways[1] } });
  }
  const ended = async () =>
    (
      await pool.query("SELECT FROM job WHERE status IN ('queued', 'running') AND project_id = $1", [
        projectId,
      ])
    ).rowCount === 0;
  await work();
  expect(jobIds.length).toBe(9);
  await until(ended, "the jobs on the operator's account");
  await connectAccounts(visit, { cookie, organizationId, projectId });
  await work();
  await until(ended, "the jobs on the organization's own account");

  // A worker dies between two steps, with work on that account, while the vendor echoes what it was sent.
  jobIds.push(
    await killBetweenSteps(
      visit,
      key,
      `/v1/capabilities/${TEXT}/jobs`,
      privately(`busy at first: ${content.private}`),
    ),
  );

  // People sign in, rightly and wrongly, are invited, sign a device in, and change what they sign in with.
  await ask("POST", "/sign-in", { body: { email, password } });
  await ask("POST", "/sign-in", {
    body: { email, password: keep("a wrong password", `wrong ${unique()}`) },
  });
  await signInByProvider(visit, email);
  await invite(visit, { cookie, password }, organizationId, pasted);
  await signDeviceIn(visit, { cookie, password });
  await ask("POST", "/v1/billing/wallet/top-up-session", { cookie, body: { amountMicros: 10_000_000 } });

  // The database fails under a request that carries a secret, at every entry.
  for (const table of ["payload", "retail_quote"]) {
    await pool.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    const body = privately(content.private);
    const way = table === "payload" ? "jobs" : "quote";
    expect((await ask("POST", `/v1/capabilities/${TEXT}/${way}`, { key, body })).status).toBe(500);
    const done = { project_id: projectId, capability_key: TEXT, body };
    expect(
      (await procedure(way === "jobs" ? "catalog.submit" : "catalog.quote", done, { cookie })).status,
    ).toBe(500);
    await tool(key, way === "jobs" ? "submit_job" : "quote", { capability_key: TEXT, request: body });
    const chat = { model: TEXT, messages: say(content.private).messages };
    await ask("POST", "/v1/chat/completions", { key, body: chat });
    await pool.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
  }
  // A process dies after it received an answer.
  const dying = await house.startDying("after-answer");
  const lost = fetch(new URL(`/v1/capabilities/${TEXT}/invoke`, dying.url), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(privately(content.private)),
  });
  await expect(lost).rejects.toThrow();
  expect((await dying.gone)[1]).toBe("SIGKILL");
  await until(
    async () => ((await pool.query("SELECT FROM delivery_attempt")).rowCount ?? 0) > 0,
    "a webhook that was refused",
  );

  for (const jobId of jobIds)
    for (const part of ["", "/events", "/receipt", "/result"])
      await ask("GET", `/v1/jobs/${jobId}${part}`, { key });
  for (const list of ["audit-log", "deliveries", "jobs", "artifacts", "receipts"])
    await ask("GET", `/v1/${list}`, { key });
  await changeOwnSecrets(visit, { cookie, password });
  // The vendor really received the secrets, so it could have echoed them.
  for (const { name, value } of visit.secrets.filter(
    ({ name }) => name === "OPENAI_API_KEY" || / account|account's secret/.test(name),
  ))
    expect(house.echo.heardKeys.has(value), name).toBe(true);
  // Every operation that accepts or returns a secret has succeeded at least once.
  expect((await doorsOfSecrets()).filter((door) => !visit.passed.has(door))).toEqual([]);

  const titles = house.titles();
  await house.endProcesses();
  const letters = house.mail.received.map(({ raw, text, html }) => ({
    where: "a letter",
    text: `${raw}${text}${html}`,
  }));
  const texts = [
    ...visit.answers,
    ...titles,
    ...letters,
    ...house.echo.heard,
    ...(await house.rows()),
    ...house.files(),
  ];
  const logs = texts.filter(({ where }) => /^log of (web|worker|postgres)$/.test(where));
  expect(logs.map(({ text }) => text.length > 1_000)).toEqual([true, true, true]);
  // The part of a key that lists show, so that people recognize it.
  const shown = [tenant.key, tenant.unboundKey, ...Object.values(keys)].map((text: string) =>
    text.slice(0, made.prefix.length),
  );
  const finds = sweep(texts, needlesOf(visit.secrets, shown.join(" ")));
  const isRight = ({ where, secret }: Find) =>
    BELONGS.some((each) => each.where.test(where) && each.secret.test(secret));
  expect(finds.filter((find) => !isRight(find))).toEqual([]);
  for (const { where, secret } of BELONGS)
    expect(
      finds.some((find) => where.test(find.where) && secret.test(find.secret)),
      String(where),
    ).toBe(true);
});

test("the sweep finds a planted secret, a piece of it, and each of its forms", () => {
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
