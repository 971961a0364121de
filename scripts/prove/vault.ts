import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { vaultKeyId } from "@/server/platform/crypto/vault";
import { env } from "@/server/platform/settings/env";
import { openInstallation, report, until } from "./installation";

/*
 * `npm run prove:vault` replaces the vault key of an installation while it works. Executions that are kept encrypted run on the
 * customer's own account and their events go out by webhook throughout: while web and worker start again with the new key beside
 * the old, then with the new key sealing, while all values are sealed again with it, and after the old key is gone. Exits 1 when
 * a call failed, a value did not open, or the old key could not go.
 */

const CALLERS = 4;
/** Each phase waits for at least this many executions, and for a quarter as many durable jobs. */
const EACH = 40;
const LONGEST_MS = 180_000;
const [OLD, NEW] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64")) as [
  string,
  string,
];
const SECRET = `sk-${randomBytes(20).toString("hex")}`;
const MODEL = "local-1";

/** Counts calls to the customer's model server, those that came with another secret, and webhooks; one server receives both. */
const seen = { calls: 0, strangers: 0, hooks: 0 };
const vendor = createServer((request, response) => {
  if (request.url?.startsWith("/hook")) seen.hooks++;
  else {
    seen.calls++;
    if (request.headers.authorization !== `Bearer ${SECRET}`) seen.strangers++;
  }
  request.resume().on("end", () => {
    response.setHeader("content-type", "application/json");
    if (request.url?.endsWith("/models")) {
      response.end(JSON.stringify({ object: "list", data: [{ id: MODEL }] }));
      return;
    }
    const message = { role: "assistant", content: "The river is deep." };
    response.end(
      JSON.stringify({
        id: `c-${seen.calls}`,
        object: "chat.completion",
        created: 0,
        model: MODEL,
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
      }),
    );
  });
});
await new Promise<void>((resolve) => vendor.listen(0, "127.0.0.1", resolve));
const address = vendor.address();
const vendorUrl = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;

const keys = (current: string, ...others: string[]) => ({
  CAPSTAN_VAULT_KEY: current,
  CAPSTAN_VAULT_OTHER_KEYS: others.join(","),
});
const installation = await openInstallation(0, {
  ...keys(OLD),
  ALLOW_PRIVATE_ADDRESSES: "1",
  LOG_LEVEL: "info",
});
const { base, admin } = installation;
await installation.ready();
const { organizationId, projectId, apiKey } = await installation.tenant("Vault");

// Connects the account as the product does for a person; the product's modules take the installation's settings from `env`.
Object.assign(env, {
  DATABASE_URL: installation.env.DATABASE_URL,
  CAPSTAN_VAULT_KEY: OLD,
  ALLOW_PRIVATE_ADDRESSES: true,
});
const { createCredential } = await import("@/server/domain/connections");
const { systemCtx } = await import("@/server/domain/ctx");
const { closeDatabase } = await import("@/server/platform/db");
await createCredential(
  systemCtx("prove"),
  organizationId,
  {
    provider: "openai-compatible",
    secret: SECRET,
    label: "prove",
    endpointUrl: `${vendorUrl}/v1`,
    models: `${MODEL}:0.2:0.6`,
  },
  { places: [{ projectId, environment: "development" }] },
);
await closeDatabase();

type Answer = { status: number; json: Record<string, unknown> };
const counts = { executions: 0, jobs: 0, reads: 0, retries: 0 };
const failures: string[] = [];

/** Asks until a process answers; one that is being started again does not answer for a moment. */
async function ask(method: string, path: string, body?: object, key?: string): Promise<Answer> {
  for (;;) {
    const answer = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        ...(key && { "idempotency-key": key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => null);
    const json = (await answer?.json().catch(() => null)) as Answer["json"] | null | undefined; // callers treat each member as unknown
    if (answer && json && answer.status !== 503) {
      if (answer.status >= 400) failures.push(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
      return { status: answer.status, json };
    }
    counts.retries++;
    await sleep(100);
  }
}

const TEXT = "/v1/capabilities/text.general.fast.v1";
const request = {
  input: { messages: [{ role: "user", content: "How deep is the river?" }] },
  context: { projectId, dataClassification: "PrivateUserContent" },
  execution: { executionConstraints: { preferredModel: MODEL } },
};
await ask("POST", "/v1/delivery-endpoints", {
  url: `${vendorUrl}/hook`,
  secret: `whsec_${randomBytes(24).toString("base64")}`,
});

let hasEnded = false;
let first = "";

/** Checks that the request of an execution is read back as it was sent. */
async function readBack(executionId: string): Promise<void> {
  const { json } = await ask("GET", `/v1/jobs/${executionId}/request`);
  counts.reads++;
  if (!JSON.stringify(json).includes("How deep is the river?"))
    failures.push(`${executionId} was read back as ${JSON.stringify(json)}`);
}

async function caller(number: number): Promise<void> {
  for (let n = 0; !hasEnded; n++) {
    const key = `prove-${number}-${n}`;
    if (n % 4 === 3) {
      const { json } = await ask("POST", `${TEXT}/jobs`, request, key);
      let state = json;
      while (!["succeeded", "failed", "canceled"].includes(String(state.status))) {
        await sleep(100);
        state = (await ask("GET", `/v1/jobs/${json.jobId}`)).json;
      }
      counts.jobs++;
      if (state.status !== "succeeded") failures.push(`job ${json.jobId}: ${JSON.stringify(state.error)}`);
    } else {
      const { json } = await ask("POST", `${TEXT}/invoke`, request, key);
      counts.executions++;
      if (json.status !== "succeeded") failures.push(`execution: ${JSON.stringify(json)}`);
      first ||= String(json.executionId);
      await readBack(String(json.executionId));
    }
    if (first) await readBack(first);
  }
}

const callers = Array.from({ length: CALLERS }, (_, number) => caller(number));
const startedAt = Date.now();
const say = (text: string) =>
  console.log(
    `${Math.round((Date.now() - startedAt) / 1000)} s: ${text} (${counts.executions} executions, ${counts.jobs} jobs)`,
  );
/**
 * Waits until so many more executions, and a quarter as many jobs, are done: each phase meets real work on a slow machine too.
 */
async function work(executions: number): Promise<void> {
  const [wanted, jobs] = [counts.executions + executions, counts.jobs + executions / 4];
  await until(async () => counts.executions >= wanted && counts.jobs >= jobs, LONGEST_MS);
}
const phase = async (text: string, settings: Record<string, string>) => {
  await installation.restart(settings);
  await installation.ready();
  await work(EACH);
  say(text);
};

await work(EACH);
say("the old key alone");
await phase("the new key opens", keys(OLD, NEW));
await phase("the new key seals", keys(NEW, OLD));
const handed: Record<string, unknown> = await admin("vault", "rewrap");
say(`handed over: ${JSON.stringify(handed)}`);
const status = await admin<{ keys: { keyId: string; values: number; canGo: boolean }[] }>("vault", "status");
const old = status.keys.find(({ keyId }) => keyId === vaultKeyId(Buffer.from(OLD, "base64")));
await phase("the old key is gone", keys(NEW));
hasEnded = true;
await Promise.all(callers);

const logs = await installation.logs();
const database = await installation.connect();
const { rows: signing } = await database.query("SELECT id FROM signing_key");
await database.end();
const broken = report([
  ["executions on the customer's account", counts.executions, "any"],
  ["durable jobs on it", counts.jobs, "any"],
  ["contents read back", counts.reads, "any"],
  ["webhooks that arrived", seen.hooks, "any"],
  ["asked again while a process was started", counts.retries, "any"],
  ["values handed over", Number(handed.rewrapped), "any"],
  ["values that did not open", Number(handed.unopenable), 0],
  ["values left under the old key", old?.values ?? 0, 0],
  ["the old key could go", Number(old?.canGo ?? false), 1],
  ["calls that failed or read back something else", failures.length, 0],
  ["calls to the vendor with another secret", seen.strangers, 0],
  [
    "lines of logs about something that does not open",
    (logs.match(/does not open|Sealed under|cannot be opened/g) ?? []).length,
    0,
  ],
  ["signing keys", signing.length, 1],
]);
for (const failure of failures.slice(0, 10)) console.log(failure);
await installation.close(broken > 0);
vendor.close();
process.exit(broken > 0 || counts.executions === 0 || counts.jobs === 0 || seen.hooks === 0 ? 1 : 0);
