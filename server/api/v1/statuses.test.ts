import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { COMMON_ERRORS, type Endpoint } from "@/server/api/endpoint";
import { pathFinder } from "@/server/api/path";
import { addressLimit } from "@/server/api/rate-limit";
import { canonicalText, sha256Hex } from "@/server/canonical";
import { OpenAIError } from "@/server/contract/openai";
import { pool } from "@/server/db";
import { weightsLink } from "@/server/domain/adapters/weights-link";
import { artifactStore } from "@/server/domain/artifacts";
import { credit } from "@/server/domain/billing";
import * as budgets from "@/server/domain/budgets";
import { type Ctx, SCOPES, type Scope, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as organizations from "@/server/domain/organizations";
import { receiveStripeMessage } from "@/server/domain/payments";
import * as pins from "@/server/domain/pins";
import * as sessions from "@/server/domain/sessions";
import { env } from "@/server/env";
import { ERRORS, type ErrorCode } from "@/server/errors";
import { newId, ulid } from "@/server/ids";
import { providers as PROVIDERS } from "@/server/providers/registry.gen";
import { VERSION } from "@/server/version";
import { type Adapters, newAdapter, openAdapters } from "@/testing/adapters";
import {
  type Answer,
  type Call,
  call,
  finish,
  keyCtx,
  makeKey,
  makeKeyWithId,
  makeTenant,
  revokeKey,
  sessionHeaders,
  sessionOf,
  submitWaiting,
  type Tenant,
} from "@/testing/api";
import { COMPARED, COMPARISONS, compared, pinned as pinnedTo } from "@/testing/comparisons";
import { Form, someWeights, uploadOf, weightsPart } from "@/testing/forms";
import { NEED, needIn, quotedNeed } from "@/testing/needs";
import { definePanel, isOfPanels, openPanel, openPanels, type Panels } from "@/testing/panels";
import { isOfItself, isOfRooms, openRooms, type Rooms } from "@/testing/rooms";
import { cookieOf } from "@/testing/sessions";
import { messagesOf, signed, startStripe } from "@/testing/stripe";
import { makePerson } from "@/testing/tenants";
import { isOfVault, MODELS, openVault, type Vault } from "@/testing/vault";
import { copyJob, inlineStep, testClock } from "@/testing/world";
import { endpoints } from ".";

/*
 * One case for each status each endpoint can answer. Every answer is recorded by `ask`, which also holds it to what
 * all answers promise; the law at the end compares what was seen with what the endpoints declare.
 */

const seen = new Set<string>();
const seenCodes = new Set<string>();
const found = endpoints.map((endpoint) => ({
  endpoint,
  find: pathFinder([[endpoint.path, endpoint]]),
}));

function endpointOf(method: string, target: string): Endpoint | undefined {
  const { pathname } = new URL(target, "http://capstan.test");
  // A literal path is listed before a parameter can take it, as the router does.
  const matching = found.filter(({ endpoint, find }) => endpoint.method === method && find(pathname));
  return matching.sort((a, b) => parametersIn(a.endpoint) - parametersIn(b.endpoint))[0]?.endpoint;
}

const parametersIn = (endpoint: Endpoint) => endpoint.path.split("{").length;
const nameOf = (endpoint: Endpoint) => `${endpoint.method} ${endpoint.path}`;

type Wanted = number | [number, ErrorCode | "list"];

/** Sends a request, expects this status (and code, or a list of field errors), and checks what every answer promises. */
async function ask(wanted: Wanted, method: string, target: string, options: Call = {}): Promise<Answer> {
  const answer = await call(method, target, options);
  check(answer, wanted, method, target);
  return answer;
}

function check(answer: Answer, wanted: Wanted, method: string, target: string): void {
  const [status, code] = Array.isArray(wanted) ? wanted : [wanted, undefined];
  const endpoint = endpointOf(method === "HEAD" ? "GET" : method, target);
  expect(answer.status, JSON.stringify(answer.json?.detail)).toBe(status);
  if (endpoint) seen.add(`${nameOf(endpoint)} ${status}`);

  const { headers } = answer;
  expect(headers["x-request-id"]).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  expect(headers["x-capstan-version"]).toBe(VERSION);
  for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]) {
    expect(headers[name]).toMatch(/^\d+$/);
  }
  expect(headers["x-content-type-options"]).toBe("nosniff");

  if (status >= 400 && endpoint?.refusals) checkOpenAIRefusal(answer, endpoint, code);
  else if (status >= 400) checkRefusal(answer, endpoint, code);
  else if (status === 304) expect(answer.bytes.byteLength).toBe(0);
  else if (endpoint && !("rawMediaType" in endpoint.output)) {
    expect(headers["content-type"]).toBe("application/json");
    // Nothing is answered that the contract does not name.
    expect(endpoint.output.parse(answer.json)).toEqual(answer.json);
  }
}

/** The same promises in OpenAI's shape: a list of field errors is one message that names them, and our code for it. */
function checkOpenAIRefusal(answer: Answer, endpoint: Endpoint, code: ErrorCode | "list" | undefined) {
  const { error } = OpenAIError.parse(answer.json);
  expect(answer.json).toEqual({ error });
  expect(error.message).toMatch(/\S/);
  const told = error.code as ErrorCode; // its row is looked up next
  if (code) expect(told).toBe(code === "list" ? "InvalidInput" : code);
  expect(ERRORS[told].status).toBe(answer.status);
  expect([...endpoint.errors, ...COMMON_ERRORS, "InvalidInput"]).toContain(told);
  if (!ERRORS[told].retryable) expect(answer.headers["x-should-retry"]).toBe("false");
  seenCodes.add(`${nameOf(endpoint)} ${told}`);
}

/** What a refusal says beside code and message, in either shape. */
const detailsOf = ({ json }: Answer) => json.error?.details ?? json.detail.details;

function checkRefusal(answer: Answer, endpoint: Endpoint | undefined, code: ErrorCode | "list" | undefined) {
  if (answer.json === undefined) return expect(answer.bytes.byteLength).toBe(0); // of HEAD
  const { detail, ...top } = answer.json;
  if (Array.isArray(detail)) {
    expect(code ?? "list").toBe("list");
    expect(top).toEqual({});
    expect(answer.status).toBe(422);
    for (const issue of detail) {
      expect(issue).toMatchObject({
        loc: expect.any(Array),
        msg: expect.any(String),
        type: expect.any(String),
      });
      expect(["body", "query", "path", "header"]).toContain(issue.loc[0]);
      expect(issue.msg).not.toBe("");
    }
    return;
  }
  expect(detail.message).toMatch(/\S/);
  if (code) expect(detail.code).toBe(code);
  const row = ERRORS[detail.code as ErrorCode];
  expect(row.status).toBe(answer.status);
  // A client must never have to guess whether it may send a failed request again.
  const guidance = { retryable: row.retryable, nextAction: row.next };
  if (row.status === 429 || row.status >= 500) expect(detail).toMatchObject(guidance);
  if (!endpoint) return;
  expect([...endpoint.errors, ...COMMON_ERRORS]).toContain(detail.code);
  seenCodes.add(`${nameOf(endpoint)} ${detail.code}`);
  const named = detail.code === "IdempotencyConflict" ? { jobId: detail.details.jobId } : {};
  if (!endpoint.envelopeErrors) return expect(top).toEqual(named);
  const { jobId: _named, ...admission } = top;
  const { code: refusal, message, ...fields } = detail;
  const isInline = "inline" in ERRORS[detail.code as ErrorCode];
  expect(admission).toEqual(isInline ? { code: refusal, message, details: fields } : detail);
}

const TEXT = "text.general.fast.v1";
const JSON_TEXT = "text.structured.generation.v1";
const IMAGE = "image.generate.v1";
const MATH = "compute.evaluate.v1";
const at = (key: string, what: string) => `/v1/capabilities/${key}/${what}`;
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const PINNED = "/v1/inference/pinned";
const MANIFESTS = "/v1/provenance/manifests";
const LOCKFILE = "/v1/provenance/lockfile";
const REQUESTS = "/v1/capability-requests";
const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const PIN = {
  pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
  input: "How deep is the sea?",
};
const BULKS = `${PINNED}/bulk`;
const BULK = { pin: PIN.pin, items: ["one", "two"].map((id) => ({ id, input: `How deep is sea ${id}?` })) };
const say = (content: string) => ({ input: { messages: [{ role: "user", content }] } });

let tenant: Tenant;
/** A finished image job with two variants, a finished text job and one that waits. */
let image: { jobId: string; artifacts: { artifactId: string; sha256: string; byteLength: number }[] };
let done: string;
let queued: string;
/** One more finished image job, whose variants are chosen, and a canceled job. */
let chosen: typeof image;
let canceled: string;
/** An execution that was invoked. */
let executed: string;
/** The record of a pinned one. */
let pinned: string;
/** A manifest of it, and its lockfile. */
let manifest: string;
let lockfile: object;
/** A bulk that was canceled before it ran. */
let bulk: string;
/** Capability requests: one that is a draft, one that was submitted, one with a quote. */
let filed: string;
let submitted: string;
let priced: string;
/** Whose they are: a tenant of its own, since each is told to every delivery endpoint. */
let customer: Tenant;
/** Its key, for what is done without HTTP. */
let asKey: Ctx;
/** A hold that was ambiguous, and resolved. */
let resolvedHold: string;
/** Jobs that waited for approval, and what was decided. */
let approved: string;
let rejected: string;

beforeAll(async () => {
  tenant = await makeTenant();
  const drawn = await tenant.post(at(IMAGE, "jobs"), { prompt: "A kite over the dunes", variantCount: 2 });
  const asked = await tenant.post(at(TEXT, "jobs"), { input });
  const waiting = await tenant.post(at(TEXT, "jobs"), { input });
  image = (await finish(drawn.json.jobId)) as unknown as typeof image; // a finished image job has all three
  done = (await finish(asked.json.jobId)).jobId;
  queued = waiting.json.jobId;
}, 60_000);

const get = (wanted: Wanted, target: string, options: Call = {}) =>
  ask(wanted, "GET", target, { key: tenant.key, ...options });
const post = (wanted: Wanted, target: string, body?: unknown, options: Call = {}) =>
  ask(wanted, "POST", target, { key: tenant.key, body, ...options });

/** Two delivery endpoints, one of which is disabled again and again, and a delivery to the other. */
let hook: string;
let unused: string;
let delivery: string;

beforeAll(async () => {
  const make = async () =>
    (await tenant.post("/v1/delivery-endpoints", { url: "https://hooks.example/in", secret: "s3cret" })).json;
  [hook, unused] = [(await make()).endpointId, (await make()).endpointId];
  await tenant.post(at(TEXT, "jobs"), { input });
  await jobs.announce(systemCtx("test"), tenant);
  const { items } = (await tenant.get(`/v1/deliveries?endpointId=${hook}`)).json;
  delivery = items[0].deliveryId;
}, 60_000);

const hookBody = { url: "https://hooks.example/in", secret: "s3cret", enabled: false };

/** What ends otherwise in a request that anybody may repeat: without a payment provider, or after it was done once. */
const ENDS: Record<string, number> = {
  "/v1/billing/checkout-session": 402,
  "/v1/billing/portal-session": 402,
  "/v1/billing/holds/{hold_id}/resolve": 409,
  "/v1/auth/device/token": 428,
  "/v1/auth/sessions/{session_id}": 404,
  "/v1/panel/launch-codes/exchange": 410,
};
/** What stands for success. */
const good = (endpoint: Endpoint) => ENDS[endpoint.path] ?? endpoint.status ?? 200;
const isForKeys = ({ auth, path }: Endpoint) =>
  (auth.includes("service_principal") || auth.includes("anonymous")) && !isOfItself(path);
/** Does it make a token that may do what it names, and more? */
const handsOutRights = ({ method, path }: Endpoint) =>
  method === "POST" && (path === "/v1/panel-sessions" || path.endsWith("/launch-codes"));
let owner: Call;
/** The code of a device nobody has approved. */
let waitingDevice: string;
/** The credentials of somebody who may: a key, or where people only may ask, the session of an owner. */
const as = (endpoint: Endpoint, sent: Call = {}): Call => {
  if (isOfPages(endpoint))
    return { ...panels.page, ...sent, headers: { ...panels.page.headers, ...sent.headers } };
  if (isForKeys(endpoint)) return { key: homeOf(endpoint).key, ...sent };
  const person = isOfVault(endpoint) ? vault.owner : owner;
  return { ...sent, headers: { ...person.headers, ...sent.headers } };
};
const settings = (projectId: string, values: object) =>
  pool.query("UPDATE project SET settings = $2 WHERE id = $1", [projectId, JSON.stringify(values)]);

/** What is connected belongs to a tenant of its own, since work of its project would run on it. */
let vault: Vault;
const homeOf = (endpoint: Endpoint): Tenant => {
  if (endpoint.path.startsWith(REQUESTS)) return customer;
  return isOfVault(endpoint) ? vault.tenant : tenant;
};

beforeAll(async () => {
  vault = await openVault();
}, 60_000);
afterAll(() => vault.close());

/** LoRA weights of the tenant. */
let lora: Adapters;
beforeAll(async () => {
  lora = await openAdapters(tenant);
}, 60_000);
afterAll(() => lora.close());

/** A comparison that was judged, and how. */
let judged: Awaited<ReturnType<typeof compared>>;
beforeAll(async () => {
  judged = await compared(tenant, true);
}, 60_000);

/** Panels of the tenant, and a page that has a session. */
let panels: Panels;
beforeAll(async () => {
  panels = await openPanels(tenant);
}, 60_000);
/** Is it of panel sessions alone? */
const isOfPages = ({ auth }: Endpoint) => auth.every((kind) => kind === "panel_session");

/** The organization of the tenant, its projects and keys. */
let rooms: Rooms;
beforeAll(async () => {
  rooms = await openRooms(tenant);
}, 60_000);

/** For every endpoint a request that succeeds, made of ids of the tenant above. */
function sample({ method, path }: Endpoint): { method: string; target: string; body?: unknown } {
  const key = path.endsWith("/invoke") ? MATH : TEXT;
  const job = path.endsWith("/select") ? chosen : image;
  if (isOfVault({ path })) return vault.sample(method, path);
  if (isOfRooms(path)) return rooms.sample(method, path);
  if (isOfPanels(path)) return panels.sample(method, path);
  if (path.startsWith("/v1/adapter")) return lora.sample(method, path);
  const artifact = job.artifacts[0]?.artifactId ?? "";
  const verb = path.split("/").at(-1) ?? "";
  const ended: Record<string, string> = {
    cancel: canceled,
    retry: canceled,
    approve: approved,
    reject: rejected,
  };
  const jobId = /artifact|variants/.test(path) ? job.jobId : (ended[verb] ?? done);
  const target = path
    .replace("{capability_key}", key)
    .replace("{job_id}", jobId)
    .replace("{execution_id}", executed)
    .replace("{artifact_id}", artifact)
    .replace("{project_id}", tenant.projectId)
    .replace("{endpoint_id}", path.endsWith("/disable") ? unused : hook)
    .replace("{delivery_id}", delivery)
    .replace("{receipt_id}", pinned)
    .replace("{bulk_id}", bulk)
    .replace("{manifest_id}", manifest)
    .replace("{request_id}", verb === "submit" ? submitted : verb === "quote" ? priced : filed)
    .replace("{hold_id}", resolvedHold)
    .replace("{comparison_id}", judged.comparisonId);
  if (path.endsWith("/comparisons")) return { method, target, body: COMPARED };
  if (path.endsWith("/comparisons/estimate")) {
    const { competitors, input } = COMPARED;
    return { method, target, body: { competitors, input } };
  }
  if (path.endsWith("/judgements")) return { method, target, body: judged.winner };
  if (path.endsWith("/usage-export")) return { method, target: `${target}?from=2026-01-01&to=2026-01-02` };
  if (path === PINNED && method === "GET")
    return { method, target: `${target}?projectId=${tenant.projectId}` };
  if (path === PINNED) return { method, target, body: PIN };
  if (path === BULKS) return { method, target, body: BULK };
  if (path === LOCKFILE) return { method, target: `${target}?receipt_id=${pinned}` };
  if (path === `${LOCKFILE}/verify`) return { method, target, body: lockfile };
  if (path === MANIFESTS) return { method, target, body: { label: "x", receiptIds: [pinned] } };
  if (path.startsWith(MANIFESTS)) return { method, target };
  if (path.startsWith(REQUESTS) && method === "POST" && verb !== "submit")
    return { method, target, body: { ...NEED, projectId: customer.projectId } };
  if (path.startsWith(REQUESTS)) return { method, target };
  if (path === "/v1/auth/device/token") return { method, target, body: { deviceCode: waitingDevice } };
  if (path.startsWith("/v1/auth/device"))
    return { method, target, body: { clientName: "capstan on a laptop" } };
  if (path.startsWith("/v1/auth/"))
    return { method, target: target.replace("{session_id}", newId("session")) };
  if (path === "/v1/models/{model}") return { method, target: `/v1/models/${TEXT}` };
  if (path === CHAT) return { method, target, body: { model: TEXT, ...input } };
  if (path === RESPONSES) return { method, target, body: { model: TEXT, input: input.messages } };
  if (method === "GET") return { method, target };
  if (method === "PUT") return { method, target, body: { enforcement: "off" } };
  if (path === "/v1/billing/guardrails") return { method, target, body: { dailyMicros: null } };
  if (path === "/v1/capabilities/resolve") return { method, target, body: { intent: "draw a picture" } };
  if (path.endsWith("/resolve")) return { method, target, body: { notCharged: true, note: "Looked." } };
  if (path.endsWith("/select")) return { method, target, body: { artifactId: artifact } };
  if (path.endsWith("/plan")) return { method, target, body: { input: { prompt: "A kite" } } };
  if (verb in ended || /\/(disable|replay)$/.test(path)) return { method, target };
  if (path === "/v1/delivery-endpoints") return { method, target, body: hookBody };
  if (path === "/v1/billing/wallet/top-up-session")
    return { method, target, body: { amountMicros: 10_000_000 } };
  if (path === "/v1/billing/currency") return { method, target, body: { billingCurrency: "USD" } };
  if (path === "/v1/billing/checkout-session") return { method, target, body: { planKey: "builder" } };
  if (path === "/v1/billing/portal-session") return { method, target };
  if (method === "PATCH") return { method, target, body: { enabled: true } };
  return { method, target, body: key === MATH ? { input: { expression: "1 + 1" } } : { input } };
}

beforeAll(async () => {
  const drawn = await tenant.post(at(IMAGE, "jobs"), { prompt: "Two kites over the dunes", variantCount: 2 });
  chosen = (await finish(drawn.json.jobId)) as unknown as typeof image; // likewise
  canceled = (await tenant.post(at(TEXT, "jobs"), { input })).json.jobId;
  expect((await tenant.post(`/v1/jobs/${canceled}/cancel`)).json.status).toBe("canceled");
  executed = (await tenant.post(at(MATH, "invoke"), { input: { expression: "6 * 7" } })).json.executionId;
  pinned = (await tenant.post(PINNED, PIN)).json.receiptId;
  bulk = (await tenant.post(BULKS, BULK)).json.bulkId;
  expect((await tenant.post(`${BULKS}/${bulk}/cancel`)).json.status).toBe("failed");
  manifest = (await tenant.post(MANIFESTS, { label: "x", receiptIds: [pinned] })).json.manifestId;
  lockfile = (await tenant.get(`${LOCKFILE}?receipt_id=${pinned}`)).json;
  approved = (await submitWaiting(tenant, TEXT, { input })).jobId;
  rejected = (await submitWaiting(tenant, TEXT, { input })).jobId;
  await tenant.post(`/v1/jobs/${approved}/approve`);
  await tenant.post(`/v1/jobs/${rejected}/reject`);
  customer = await makeTenant();
  asKey = await keyCtx(customer.key);
  filed = (await needIn(asKey, "draft")).id;
  submitted = (await needIn(asKey, "submitted")).id;
  priced = (await quotedNeed(asKey)).request.id;
  resolvedHold = await loseHold(tenant);
  await budgets.resolveHold(systemCtx("test"), resolvedHold, { notCharged: true, note: "Looked." });
  owner = { headers: await sessionHeaders(tenant.organizationId, "owner") };
  waitingDevice = (await call("POST", "/v1/auth/device/start", { body: {} })).json.deviceCode;
}, 60_000);

describe("every endpoint", () => {
  for (const endpoint of endpoints) {
    const name = nameOf(endpoint);
    const isOpen = endpoint.auth.includes("anonymous");
    const hasBody = endpoint.body !== undefined;

    test(`${name}: ${good(endpoint)} to ${isForKeys(endpoint) ? "a key of the project" : isOfPages(endpoint) ? "a panel's page" : "a person"}${isOpen ? ", and to nobody in particular" : ""}`, async () => {
      const { method, target, body } = sample(endpoint);
      await ask(good(endpoint), method, target, as(endpoint, { body }));
      if (isOpen) await ask(good(endpoint), method, target, body ? { body } : {});
    });

    test(`${name}: 401 to ${isOpen ? "" : "no key, and to "}a key that is malformed, unknown, expired or revoked`, async () => {
      const { method, target, body } = sample(endpoint);
      const { projectId } = homeOf(endpoint);
      const expired = await makeKey({ projectId, expiresInSeconds: 1, agedMs: 10_000 });
      const { apiKey: revoked, keyId } = await makeKeyWithId({ projectId });
      await revokeKey(keyId);
      const { key: own } = homeOf(endpoint);
      const known = own.slice(0, -1) + (own.endsWith("0") ? "1" : "0");
      const keys = [expired, revoked, known, "cap_development_nothing", "x".repeat(5_000)];
      for (const key of isOpen ? keys : [undefined, ...keys]) {
        const refused = await ask([401, "AuthenticationFailed"], method, target, {
          ...(key ? { key } : {}),
          body,
        });
        expect(refused.headers["www-authenticate"]).toMatch(/^Bearer/);
      }
      const basic = { authorization: `Basic ${Buffer.from("a:b").toString("base64")}` };
      await ask([401, "AuthenticationFailed"], method, target, { body, headers: basic });
    });

    test(`${name}: 429 when an address has guessed too often, until its bucket fills`, async () => {
      const { method, target, body } = sample(endpoint);
      const options = { key: "cap_development_guess", body, address: "203.0.113.9" };
      let refused = await call(method, target, options);
      for (let tries = 0; refused.status !== 429 && tries < 100; tries++) {
        spend(options.address);
        refused = await call(method, target, options);
      }
      check(refused, [429, "RateLimited"], method, target);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect(detailsOf(refused).retryAfterSeconds).toBe(Number(refused.headers["retry-after"]));
      // A key that is known stays welcome at that address.
      if (isForKeys(endpoint))
        await ask(good(endpoint), method, target, as(endpoint, { body, address: "203.0.113.9" }));
    });

    if (isOfItself(endpoint.path)) {
      test(`${name}: 200 to the key itself, whatever it may do, and 404 to another`, async () => {
        const { apiKey, keyId } = await makeKeyWithId({ projectId: tenant.projectId, scopes: ["jobs:read"] });
        const target = endpoint.path.replace("{key_id}", keyId);
        await ask([404, "NotFound"], endpoint.method, target, { key: tenant.unboundKey });
        await ask(200, endpoint.method, target, { key: apiKey });
        await ask([401, "AuthenticationFailed"], endpoint.method, target, { key: apiKey });
      });
    } else if (!isForKeys(endpoint)) {
      test(`${name}: 403 to a key, whatever it may do`, async () => {
        const { method, target, body } = sample(endpoint);
        await ask([403, "AuthorizationFailed"], method, target, { key: homeOf(endpoint).unboundKey, body });
      });
    } else if (!isOpen) {
      test(`${name}: 403 to a key without the scope ${endpoint.scope}`, async () => {
        const { method, target, body } = sample(endpoint);
        expect(endpoint.scope).toBeDefined();
        const { projectId } = homeOf(endpoint);
        const poor = await makeKey({ projectId, scopes: SCOPES.filter((scope) => scope !== endpoint.scope) });
        const refused = await ask([403, "AuthorizationFailed"], method, target, { key: poor, body });
        expect(detailsOf(refused)).toEqual({ scope: endpoint.scope });
        // Nobody hands out what they do not hold.
        const given: Scope[] = handsOutRights(endpoint) ? ["jobs:read", "jobs:write"] : [];
        const rich = await makeKey({ projectId, scopes: endpoint.scope ? [endpoint.scope, ...given] : [] });
        // `GET /v1/jobs` is of the key itself; everything else is the project's.
        await ask(good(endpoint), method, target, { key: rich, body });
      });
    }

    if (!isOpen) {
      test(`${name}: a signed-in person is ${endpoint.auth.includes("human_session") ? "served" : "refused with 403"}`, async () => {
        const { method, target, body } = sample(endpoint);
        const needsMore = !isForKeys(endpoint) || endpoint.scope === "credentials:write";
        const cookie = await sessionOf(homeOf(endpoint).organizationId, needsMore ? "owner" : "member");
        const own = { cookie, origin: "http://localhost:3000", "content-type": "application/json" };
        const sent = { body: body ?? (method === "POST" ? {} : undefined), headers: own };
        const isServed = endpoint.auth.includes("human_session");
        const named =
          isServed &&
          method === "POST" &&
          isForKeys(endpoint) &&
          !isOfVault(endpoint) &&
          !target.includes("projectId=")
            ? `${target}?projectId=${tenant.projectId}`
            : target;
        await ask(isServed ? good(endpoint) : [403, "AuthorizationFailed"], method, named, sent);
        if (method === "GET") return;
        const elsewhere = { ...own, origin: "https://elsewhere.test" };
        await ask([403, "CrossSiteRequest"], method, named, { ...sent, headers: elsewhere });
      });
    }

    if (endpoint.params) {
      test(`${name}: 422 for a path no id can be`, async () => {
        const { method, target, body } = sample(endpoint);
        const parts = target.split("/");
        const place = endpoint.path.split("/").findIndex((part) => part.startsWith("{"));
        for (const part of ["%00", "x".repeat(200)]) {
          parts[place] = part;
          const { json } = await ask([422, "list"], method, parts.join("/"), as(endpoint, { body }));
          if (!endpoint.refusals) expect(json.detail[0].loc[0]).toBe("path");
        }
      });
    }

    if (hasBody) {
      test(`${name}: 413, 415 and 422 for bodies that are too large, not JSON, or not to be trusted`, async () => {
        const { method, target } = sample(endpoint);
        const huge = Buffer.alloc((endpoint.bodyLimit ?? 1024 * 1024) + 1, 32);
        const tooLarge = await ask([413, "PayloadTooLarge"], method, target, as(endpoint, { body: huge }));
        expect(detailsOf(tooLarge)).toEqual({ maxBytes: huge.byteLength - 1 });
        const lying = { body: huge, headers: { "content-length": "10" } };
        await ask([413, "PayloadTooLarge"], method, target, as(endpoint, lying));
        const plain = { body: "{}", headers: { "content-type": "text/plain" } };
        await ask([415, "UnsupportedMediaType"], method, target, as(endpoint, plain));
        const hostile = ["{", "[]", '"x"', '{"a":1,"a":2}', '{"a":"\\ud800"}', '{"a":"\\u0000"}'];
        const deep = `${'{"a":'.repeat(65)}1${"}".repeat(65)}`;
        for (const body of [...hostile, deep, Buffer.from([0x7b, 0xff, 0x7d])]) {
          const { json } = await ask([422, "list"], method, target, as(endpoint, { body }));
          if (!endpoint.refusals) expect(json.detail[0].loc[0]).toBe("body");
        }
        if (!endpoint.body?.safeParse(undefined).success)
          await ask([422, "list"], method, target, as(endpoint));
      });
    }
  }
});

describe("pinned executions", () => {
  const pin = (wanted: Wanted, more: object = {}, options: Call = {}) =>
    post(wanted, PINNED, { ...PIN, ...more }, options);
  const of = (model: string) => ({ pin: { ...PIN.pin, model } });

  test("run: 200 with the record, and its execution's id in a header", async () => {
    const { json, headers } = await pin(200);
    expect(headers["x-execution-id"]).toBe(json.executionId);
    expect(json.result.receipt).toEqual(json.receipt);
    expect(json.receipt.receipt_id).toBe(json.receiptId);
    const { json: read } = await get(200, `${PINNED}/${json.receiptId}`);
    expect(read).toEqual(json.receipt);
  });

  test("run: 501 for managed billing, wherever it is asked for", async () => {
    await pin([501, "MANAGED_PINNED_UNAVAILABLE"], { billingMode: "managed" });
    await pin([501, "MANAGED_PINNED_UNAVAILABLE"], { execution: { billingMode: "managed" } });
    await pin(200, { billingMode: "byok" });
  });

  test("run: 422 for what no pin is, with the field", async () => {
    for (const [more, loc] of [
      [{ pin: { ...PIN.pin, provider: "nobody" } }, ["body", "pin", "provider"]],
      [{ pin: { ...PIN.pin, provider: "elevenlabs" } }, ["body", "pin", "provider"]],
      [{ pin: { ...PIN.pin, model: "nothing" } }, ["body", "pin", "model"]],
      [{ pin: { ...PIN.pin, model: "sandbox-image" } }, ["body", "pin", "model"]],
      [{ pin: { ...PIN.pin, api: "messages" } }, ["body", "pin", "api"]],
      [{ pin: { ...PIN.pin, api: "constructor" } }, ["body", "pin", "api"]],
      [{ pin: undefined }, ["body", "pin"]],
      [{ input: "" }, ["body", "input"]],
      [{ input: { text: "no" } }, ["body", "input"]],
      [{ isolation: "shared" }, ["body", "isolation"]],
      [{ includeNativeResponse: "yes" }, ["body", "includeNativeResponse"]],
      [{ limits: { timeoutSeconds: 29 } }, ["body", "limits", "timeoutSeconds"]],
      [{ limits: { timeoutSeconds: 601 } }, ["body", "limits", "timeoutSeconds"]],
      [{ timeoutSeconds: 29 }, ["body", "timeoutSeconds"]],
      [{ timeoutSeconds: 601 }, ["body", "timeoutSeconds"]],
      [{ limits: { admissionDeadlineSeconds: -1 } }, ["body", "limits", "admissionDeadlineSeconds"]],
      [{ limits: { admissionDeadlineSeconds: 1_801 } }, ["body", "limits", "admissionDeadlineSeconds"]],
      [{ sampling: { topK: 3 } }, ["body", "sampling", "topK"]],
      [{ idempotencyKey: "" }, ["body", "idempotencyKey"]],
    ] as const) {
      const { json } = await pin([422, "list"], more);
      expect(json.detail[0].loc, JSON.stringify(more)).toEqual(loc);
    }
    for (const seconds of [30, 600]) await pin(200, { limits: { timeoutSeconds: seconds } });
    for (const seconds of [0, 1_800]) await pin(200, { limits: { admissionDeadlineSeconds: seconds } });
  });

  test("run: 422 for a field nobody knows, with the nearest that is known", async () => {
    for (const [more, path, didYouMean] of [
      [{ inputs: "x" }, "inputs", "input"],
      [{ model: "sandbox-1" }, "model", null],
      [{ sampling: { temprature: 1 } }, "sampling.temprature", "temperature"],
      [{ limits: { timeout: 60 } }, "limits.timeout", null],
    ] as const) {
      const { json } = await pin([422, "UNKNOWN_EXECUTION_FIELD"], more);
      expect(json.detail).toMatchObject({ path, ...(didYouMean ? { didYouMean } : {}) });
    }
  });

  test("run: 422 when two names of one limit differ", async () => {
    await pin([422, "CONFLICTING_EXECUTION_CONSTRAINT"], {
      timeoutSeconds: 60,
      limits: { timeoutSeconds: 61 },
    });
    await pin(200, { timeoutSeconds: 60, limits: { timeoutSeconds: 60 } });
  });

  test("run: 422 for an unbound key that names no project", async () => {
    await pin([422, "PROJECT_REQUIRED"], {}, { key: tenant.unboundKey });
    await pin(200, { context: { projectId: tenant.projectId } }, { key: tenant.unboundKey });
  });

  test("run: 409 without an account of the provider", async () => {
    const openai = { pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" } };
    const { json } = await pin([409, "CONNECTION_REQUIRED"], openai);
    expect(json.detail.details.connectUrl).toContain(tenant.projectId);
  });

  test("run: 422 for more than the model reads", async () => {
    const { json } = await pin([422, "PromptTooLong"], { input: "x".repeat(1_000_000) });
    expect(json.detail).toMatchObject({ field: "input", capabilityKey: "inference.pinned" });
  });

  test("run: 400 where the project asks a person above a price", async () => {
    const strict = await makeTenant();
    await pool.query("UPDATE project SET approval_threshold_micros = 1 WHERE id = $1", [strict.projectId]);
    await pin([400, "PolicyRejected"], {}, { key: strict.key });
  });

  test("run: 402 above the ceiling of the call", async () => {
    await pin([402, "BudgetExceeded"], { execution: { maxCostUsd: 0.000001 } });
    await pin([402, "BudgetExceeded"], { budget: { maximumEstimatedCost: 0.000001 } });
  });

  test("run: 409 for another request under the same key, 200 for the same", async () => {
    const { json: first } = await pin(200, { idempotencyKey: "pin-1" });
    const { json } = await pin([409, "IdempotencyConflict"], { idempotencyKey: "pin-1", input: "Another." });
    expect(json).toMatchObject({ jobId: first.executionId });
    const again = await pin(200, {}, { headers: { "idempotency-key": "pin-1" } });
    expect(again.json).toEqual(first);
    await pin([422, "list"], { idempotencyKey: "pin-1" }, { headers: { "idempotency-key": "pin-2" } });
  });

  test.each([
    ["sandbox-refuse", 502, "ProviderRejected", "attempted", true],
    ["sandbox-fail", 502, "PROVIDER_ERROR", "attempted", false],
    ["sandbox-empty", 502, "PROVIDER_EMPTY_OUTPUT", "attempted", false],
    ["sandbox-lost", 502, "TRANSPORT_AMBIGUOUS", "ambiguous", false],
    ["sandbox-busy", 503, "ProviderUnavailable", "attempted", true],
  ] as const)(
    "run: %s ends with %i %s, and its record is readable",
    async (model, status, code, providerSubmission, safelyRetryable) => {
      const once = { limits: { admissionDeadlineSeconds: 0 } };
      const { json, headers } = await pin([status, code], { ...of(model), ...once });
      const { details } = json.detail;
      expect(details).toMatchObject({ providerSubmission, safelyRetryable });
      expect(headers["x-execution-id"]).toBe(details.executionId);
      const { json: record } = await get(200, `${PINNED}/${details.receiptId}`);
      expect(record).toMatchObject({ providerSubmission, safelyRetryable, error: { code } });
    },
  );

  test("read: 409 while it runs, 404 for none and for what no receipt is", async () => {
    const running = pin(200, of("sandbox-slow"));
    let receiptId: string | undefined;
    while (!receiptId) {
      const { rows } = await pool.query(
        "SELECT id FROM pinned_execution WHERE project_id = $1 AND status = 'running'",
        [tenant.projectId],
      );
      receiptId = rows[0] && `rcpt_${rows[0].id.slice(4)}`;
    }
    const { json } = await get([409, "JobNotFinished"], `${PINNED}/${receiptId}`);
    expect(json.detail.details).toEqual({ status: "running" });
    for (const id of [newId("receipt"), newId("pinned"), "bulks", "rcpt_"])
      await get([404, "NotFound"], `${PINNED}/${id}`);
    expect((await running).json.receiptId).toBe(receiptId);
    await get(200, `${PINNED}/${receiptId}`);
  });

  test("list: newest first, in pages; 422 for a cursor of another list", async () => {
    const one = await makeTenant();
    const ids: string[] = [];
    for (const word of ["one", "two", "three"])
      ids.unshift((await pin(200, { input: word }, { key: one.key })).json.receiptId);
    const { json: first } = await get(200, `${PINNED}?limit=2`, { key: one.key });
    const { json: rest } = await get(200, `${PINNED}?limit=2&cursor=${first.nextCursor}`, { key: one.key });
    expect([...first.items, ...rest.items].map((item) => item.receipt_id)).toEqual(ids);
    expect(rest.nextCursor).toBeNull();
    for (const query of ["cursor=wfr_1", "limit=0", "limit=101"])
      await get([422, "list"], `${PINNED}?${query}`);
    await get([422, "PROJECT_REQUIRED"], PINNED, { key: tenant.unboundKey });
    await get([403, "AuthorizationFailed"], `${PINNED}?projectId=${one.projectId}`);
  });
});

describe("bulks of pinned executions", () => {
  const submit = (wanted: Wanted, more: object = {}, options: Call = {}) =>
    post(wanted, BULKS, { ...BULK, ...more }, options);
  const run = async (bulkId: string) => {
    const clock = testClock();
    await pins.runBulk(systemCtx("test", clock.now), bulkId, inlineStep(clock));
  };
  const items = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `${n}`, input: "Hm?" }));

  test("submit: 200 with the bulk and its items, in pages above a thousand", async () => {
    const { json } = await submit(200, { items: items(1_001) });
    expect(json).toMatchObject({ status: "accepted", nextAction: "poll", pollAfterSeconds: 4 });
    expect(json.items).toHaveLength(1_000);
    const { json: rest } = await get(200, `${BULKS}/${json.bulkId}?cursor=${json.nextCursor}`);
    expect(rest).toMatchObject({ items: [{ id: "1000", status: "queued" }], nextCursor: null });
    await post(200, `${BULKS}/${json.bulkId}/cancel`);
  });

  test("submit: 422 for what no bulk is, with the field", async () => {
    for (const [more, loc] of [
      [{ items: items(10_001) }, ["body", "items"]],
      [{ items: [] }, ["body", "items"]],
      [{ items: [...items(2), { id: "0", input: "again" }] }, ["body", "items", 2, "id"]],
      [{ concurrency: 65 }, ["body", "concurrency"]],
      [{ concurrency: 0 }, ["body", "concurrency"]],
      [{ pin: { ...PIN.pin, model: "nothing" } }, ["body", "pin", "model"]],
    ] as const) {
      const { json } = await submit([422, "list"], more);
      expect(json.detail[0].loc).toEqual(loc);
    }
    await submit([422, "UNKNOWN_EXECUTION_FIELD"], { itmes: [] });
    await submit([422, "CONFLICTING_EXECUTION_CONSTRAINT"], {
      timeoutSeconds: 60,
      limits: { timeoutSeconds: 61 },
    });
    await submit([422, "PROJECT_REQUIRED"], {}, { key: tenant.unboundKey });
    const { json } = await submit([422, "PromptTooLong"], {
      items: [...items(1), { id: "long", input: "x".repeat(1_000_000) }],
    });
    expect(json.detail.field).toBe("items[1].input");
  });

  test("submit: 501, 409, 402 and 400 as for a single one", async () => {
    await submit([501, "MANAGED_PINNED_UNAVAILABLE"], { billingMode: "managed" });
    await submit([409, "CONNECTION_REQUIRED"], {
      pin: { provider: "openai", model: "gpt-5.6-luna", api: "responses" },
    });
    await submit([402, "BudgetExceeded"], { execution: { maxCostUsd: 0.000001 } });
    const strict = await makeTenant();
    await pool.query("UPDATE project SET approval_threshold_micros = 1 WHERE id = $1", [strict.projectId]);
    await submit([400, "PolicyRejected"], {}, { key: strict.key });
  });

  test("submit: 409 for another bulk under the same key, 200 for the same", async () => {
    const { json: first } = await submit(200, { idempotencyKey: "bulk-1" });
    const { json } = await submit([409, "IdempotencyConflict"], { idempotencyKey: "bulk-1", concurrency: 9 });
    expect(json.detail.details).toEqual({ jobId: first.bulkId });
    const again = await submit(200, {}, { headers: { "idempotency-key": "bulk-1" } });
    expect(again.json).toEqual(first);
    await submit([422, "list"], { idempotencyKey: "bulk-1" }, { headers: { "idempotency-key": "bulk-2" } });
  });

  test("read: by status; 422 for a page there cannot be, 404 for none", async () => {
    const { json } = await get(200, `${BULKS}/${bulk}?status=canceled&limit=1`);
    expect(json).toMatchObject({ counts: { canceled: 2 }, items: [{ id: "one" }], nextCursor: "1" });
    for (const query of ["limit=0", "limit=1001", "cursor=x", "status=done"])
      await get([422, "list"], `${BULKS}/${bulk}?${query}`);
    await get([404, "NotFound"], `${BULKS}/${newId("bulk")}`);
  });

  test("cancel: 200, again 200; 409 after another end; 404 for none", async () => {
    const { json } = await submit(200);
    const first = await post(200, `${BULKS}/${json.bulkId}/cancel`);
    expect(first.json).toMatchObject({ status: "failed", nextAction: "stop", counts: { canceled: 2 } });
    expect((await post(200, `${BULKS}/${json.bulkId}/cancel`)).json).toEqual(first.json);
    const { json: other } = await submit(200);
    await run(other.bulkId);
    const refused = await post([409, "JobNotCancelable"], `${BULKS}/${other.bulkId}/cancel`);
    expect(refused.json.detail.details).toEqual({ status: "succeeded" });
    await post([404, "NotFound"], `${BULKS}/${newId("bulk")}/cancel`);
  });

  test("retry: 200 with a new bulk; 409 where nothing can be sent again, or while it runs", async () => {
    const { json } = await submit(200, { pin: { ...PIN.pin, model: "sandbox-refuse" } });
    const again = `${BULKS}/${json.bulkId}/retry`;
    await post([409, "RetryNotSafe"], again);
    await run(json.bulkId);
    const { json: retry } = await post(200, again);
    expect(retry).toMatchObject({ retryOf: json.bulkId, itemCount: 2, status: "accepted" });
    expect((await post(200, again)).json).toEqual(retry);
    const key = { headers: { "idempotency-key": "bulk-again" } };
    expect((await post(200, again, undefined, key)).json.bulkId).not.toBe(retry.bulkId);
    await post([409, "IdempotencyConflict"], `${BULKS}/${bulk}/retry`, undefined, key);
    await post([422, "list"], again, undefined, { headers: { "idempotency-key": "k".repeat(256) } });
    await post([404, "NotFound"], `${BULKS}/${newId("bulk")}/retry`);
  });

  test("retry: what would refuse the bulk now refuses it", async () => {
    const one = await makeTenant();
    const { json } = await submit(200, {}, { key: one.key });
    await post(200, `${BULKS}/${json.bulkId}/cancel`, undefined, { key: one.key });
    const refused = (wanted: Wanted) =>
      post(wanted, `${BULKS}/${json.bulkId}/retry`, undefined, { key: one.key });
    const change = async (table: "project" | "organization", set: string) => {
      const id = table === "project" ? one.projectId : one.organizationId;
      await pool.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [id]);
    };
    await change("project", "approval_threshold_micros = 1");
    await refused([400, "PolicyRejected"]);
    await change("project", "approval_threshold_micros = NULL");
    await change("organization", `settings = '{"guardrails": {"perExecutionMicros": 1}}'`);
    await refused([402, "BudgetExceeded"]);
    await change("organization", "settings = '{}'");
    await pool.query("UPDATE payload SET content = NULL WHERE bulk_id = $1", [json.bulkId]);
    await refused([410, "PayloadUnavailable"]);
  });
});

/** The hold of a job whose charge nobody knows. */
async function loseHold(of: Tenant): Promise<string> {
  const execution = { executionConstraints: { preferredModel: "sandbox-lost" } };
  const { json } = await of.post(at(TEXT, "jobs"), { input, execution });
  await finish(json.jobId);
  const { rows } = await pool.query("SELECT id FROM hold WHERE execution_id = $1", [json.jobId]);
  return rows[0].id;
}

/** Takes what an address may still do just now. */
function spend(address: string): void {
  while (!addressLimit.isSpent(address)) addressLimit.take(address, {});
}

describe("provenance", () => {
  test("manifests: 404 for none; 422 without a project, with two, and for receipts that are not there or stand twice", async () => {
    const none = `${MANIFESTS}/${newId("manifest")}`;
    await get([404, "NotFound"], none);
    await post([404, "NotFound"], `${none}/verify`);
    const body = { label: "x", receiptIds: [pinned] };
    await post([422, "PROJECT_REQUIRED"], MANIFESTS, body, { key: tenant.unboundKey });
    const two = { ...body, projectId: tenant.projectId, context: { projectId: tenant.otherProjectId } };
    await post([422, "CONFLICTING_EXECUTION_CONSTRAINT"], MANIFESTS, two);
    await post([403, "AuthorizationFailed"], MANIFESTS, { ...body, projectId: tenant.otherProjectId });
    for (const [receiptIds, place] of [
      [[pinned, newId("receipt")], 1],
      [[pinned, pinned], 1],
      [["x"], 0],
    ] as const) {
      const { json } = await post([422, "list"], MANIFESTS, { label: "x", receiptIds });
      expect(json.detail).toMatchObject([{ loc: ["body", "receiptIds", place] }]);
    }
    for (const wrong of [{}, { label: "x", receiptIds: [] }, { ...body, label: "" }, { ...body, more: 1 }])
      await post([422, "list"], MANIFESTS, wrong);
    const { json } = await post(200, `${MANIFESTS}/${manifest}/verify`);
    expect(json).toMatchObject({ verified: true, receiptsFound: 1 });
  });

  test("lockfiles: 404 for none, 422 for a job's receipt, 409 while it runs", async () => {
    await get([404, "NotFound"], `${LOCKFILE}?receipt_id=${newId("receipt")}`);
    const { json } = await get([422, "list"], `${LOCKFILE}?receipt_id=rcpt_${done.slice(4)}`);
    expect(json.detail[0]).toMatchObject({ loc: ["query", "receipt_id"], type: "not_pinned" });
    await get([422, "list"], LOCKFILE);
    const slow = { ...PIN, pin: { ...PIN.pin, model: "sandbox-slow" }, input: "For a lockfile." };
    const running = post(200, PINNED, slow);
    let receiptId: string | undefined;
    while (!receiptId) {
      const { rows } = await pool.query(
        "SELECT id FROM pinned_execution WHERE project_id = $1 AND status = 'running'",
        [tenant.projectId],
      );
      receiptId = rows[0] && `rcpt_${rows[0].id.slice(4)}`;
    }
    await get([409, "JobNotFinished"], `${LOCKFILE}?receipt_id=${receiptId}`);
    await running;
  });

  test("lockfile verify: what was changed in it is told; 422 for what is no lockfile", async () => {
    const changed = { ...lockfile, settings: { temperature: 2 } };
    const { json } = await post(200, `${LOCKFILE}/verify`, changed);
    expect(json.verified).toBe(false);
    expect(json.checks[2].detail).toContain("settings.temperature is 2");
    await post([422, "list"], `${LOCKFILE}/verify`, { ...lockfile, receiptId: newId("receipt") });
    await post([422, "list"], `${LOCKFILE}/verify`, {});
  });
});

describe("capability requests", () => {
  const get = (wanted: Wanted, target: string) => ask(wanted, "GET", target, { key: customer.key });
  const post = (wanted: Wanted, target: string, body?: unknown, options: Call = {}) =>
    ask(wanted, "POST", target, { key: customer.key, body, ...options });

  test("create: 422 for what no need is, with the field, and without a project; 403 for somebody else's", async () => {
    for (const [field, value] of [
      ["summary", undefined],
      ["summary", " \n"],
      ["summary", "x".repeat(301)],
      ["need", ""],
      ["need", 5],
      ["schemaVersion", "service.capability-request.v2"],
      ["proposedCapability", "stamps.sort.v1"],
      ["constraints", []],
      ["acceptanceCases", [1]],
      ["acceptanceCases", Array(101).fill({})],
      ["implementationPreferences", true],
      ["idempotencyKey", ""],
      ["projectId", "x".repeat(65)],
    ] as const) {
      const { json } = await post([422, "list"], REQUESTS, { ...NEED, [field]: value });
      expect(json.detail[0].loc.slice(0, 2)).toEqual(["body", field]);
    }
    await post([422, "PROJECT_REQUIRED"], REQUESTS, NEED, { key: customer.unboundKey });
    for (const projectId of [customer.otherProjectId, newId("project")])
      await post([403, "AuthorizationFailed"], REQUESTS, { ...NEED, projectId });
  });

  test("create: 409 for another need under the same key, 200 for the same, here or in the header", async () => {
    const body = { ...NEED, idempotencyKey: "stamps" };
    const { json } = await post(200, REQUESTS, body);
    expect((await post(200, REQUESTS, body)).json).toEqual(json);
    const named = { headers: { "idempotency-key": "stamps" } };
    expect((await post(200, REQUESTS, NEED, named)).json).toEqual(json);
    const refused = await post([409, "IdempotencyConflict"], REQUESTS, { ...body, need: "Another." });
    expect(refused.json.detail.details).toEqual({ jobId: json.id });
    const two = await post([422, "list"], REQUESTS, { ...body, idempotencyKey: "coins" }, named);
    expect(two.json.detail[0].loc).toEqual(["body", "idempotencyKey"]);
  });

  test("list: newest first in pages, by project and status; 422 for a cursor of another list, 403 for a project", async () => {
    const first = (await get(200, `${REQUESTS}?limit=2`)).json;
    expect(first.items.length).toBe(2);
    const second = (await get(200, `${REQUESTS}?limit=2&cursor=${first.nextCursor}`)).json;
    const ids = [...first.items, ...second.items].map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    const quoted = (await get(200, `${REQUESTS}?status=quoted&projectId=${customer.projectId}`)).json;
    expect(quoted.items).toMatchObject([{ id: priced, status: "quoted", summary: NEED.summary }]);
    for (const wrong of ["cursor=x", `cursor=${newId("job")}`, "limit=0", "limit=101", "status=lost"])
      await get([422, "list"], `${REQUESTS}?${wrong}`);
    await get([403, "AuthorizationFailed"], `${REQUESTS}?projectId=${customer.otherProjectId}`);
  });

  test("404 for none, wherever it is named", async () => {
    const none = `${REQUESTS}/${newId("capabilityRequest")}`;
    await get([404, "NotFound"], none);
    await get([404, "NotFound"], `${none}/quote`);
    await post([404, "NotFound"], `${none}/submit`);
    await post([404, "NotFound"], `${none}/revisions`, NEED);
    await get([404, "NotFound"], `${REQUESTS}/${filed}/quote`);
  });

  test("revisions: 422 for another project, 409 once it is declined or paid, 400 after fifty", async () => {
    const target = `${REQUESTS}/${filed}/revisions`;
    const { json } = await post([422, "list"], target, { ...NEED, projectId: customer.otherProjectId });
    expect(json.detail[0].loc).toEqual(["body", "projectId"]);
    for (const status of ["declined", "paid", "fulfilled", "refunded"] as const) {
      const { id } = await needIn(asKey, status);
      const refused = await post([409, "RequestStateConflict"], `${REQUESTS}/${id}/revisions`, NEED);
      expect(refused.json.detail.details).toEqual({ requestId: id, status });
      await post([409, "RequestStateConflict"], `${REQUESTS}/${id}/submit`);
      expect((await get(200, `${REQUESTS}/${id}`)).json.status).toBe(status);
    }
    const { id } = await needIn(asKey, "draft");
    for (let number = 2; number <= 50; number++) {
      const { json } = await post(200, `${REQUESTS}/${id}/revisions`, NEED);
      expect(json.revision.number).toBe(number);
    }
    await post([400, "PolicyRejected"], `${REQUESTS}/${id}/revisions`, NEED);
    await post(200, `${REQUESTS}/${id}/submit`);
  });

  test("quote: 410 with the reason once its wording is replaced", async () => {
    const { request, quote } = await quotedNeed(asKey);
    expect((await get(200, `${REQUESTS}/${request.id}/quote`)).json).toEqual(quote);
    await post(200, `${REQUESTS}/${request.id}/revisions`, NEED);
    const gone = await get([410, "Gone"], `${REQUESTS}/${request.id}/quote`);
    expect(gone.json.detail.details).toEqual({
      quoteId: quote.quoteId,
      reason: "superseded",
      expiresAt: quote.expiresAt,
    });
  });
});

describe("organizations, projects and keys", () => {
  const person = async (role: "owner" | "admin" | "member" | "viewer"): Promise<Call> => ({
    headers: await sessionHeaders(tenant.organizationId, role),
  });
  const newKey = () => makeKeyWithId({ projectId: tenant.projectId });
  const organization = () => `/v1/organizations/${tenant.organizationId}`;
  const newProject = async () =>
    (await ask(200, "POST", `${organization()}/projects`, { ...owner, body: { displayName: "Room" } })).json;

  test("what each role may, and 404 to strangers and for what is not there", async () => {
    const stranger: Call = { headers: await sessionHeaders((await makeTenant()).organizationId, "owner") };
    const project = await newProject();
    const requests = (place: string, projectId: string, keyId: string) =>
      [
        ["viewer", "GET", `/v1/organizations/${place}`, undefined],
        ["viewer", "GET", `/v1/organizations/${place}/projects`, undefined],
        ["viewer", "GET", `/v1/organizations/${place}/projects/${projectId}`, undefined],
        ["viewer", "GET", `/v1/projects/${projectId}/environments`, undefined],
        ["admin", "GET", `/v1/organizations/${place}/audit-log`, undefined],
        ["admin", "GET", `/v1/organizations/${place}/audit-log-export`, undefined],
        ["admin", "PATCH", `/v1/organizations/${place}`, { displayName: "Tenant" }],
        ["admin", "POST", `/v1/organizations/${place}/projects`, { displayName: "One more" }],
        ["admin", "PATCH", `/v1/projects/${projectId}`, { displayName: "Renamed" }],
        ["member", "POST", "/v1/api-keys", { name: "k", projectId }],
        ["member", "POST", `/v1/api-keys/${keyId}/rotate`, {}],
        ["member", "POST", `/v1/api-keys/${keyId}/revoke`, {}],
        ["member", "DELETE", `/v1/api-keys/${keyId}`, undefined],
      ] as const;
    const roles = ["viewer", "member", "admin", "owner"] as const;
    const callers = await Promise.all(roles.map(async (role) => [role, await person(role)] as const));
    for (const [role, caller] of callers) {
      const { keyId } = await newKey();
      for (const [least, method, target, body] of requests(tenant.organizationId, project.id, keyId)) {
        const may = roles.indexOf(role) >= roles.indexOf(least);
        await ask(may ? 200 : [403, "AuthorizationFailed"], method, target, { ...caller, body });
      }
    }
    const { keyId } = await newKey();
    const absent = [newId("organization"), newId("project"), newId("key")] as const;
    for (const [, method, target, body] of requests(tenant.organizationId, project.id, keyId))
      await ask([404, "NotFound"], method, target, { ...stranger, body });
    for (const [, method, target, body] of requests(...absent))
      await ask([404, "NotFound"], method, target, { ...owner, body });
  });

  test("a project is changed in what is named alone; 422 for what it cannot be", async () => {
    const made = await newProject();
    expect(made.environments.map(({ slug }: { slug: string }) => slug)).toEqual([
      "development",
      "production",
    ]);
    const target = `/v1/projects/${made.id}`;
    const patch = (wanted: Wanted, body: object) => ask(wanted, "PATCH", target, { ...owner, body });
    const repository = { owner: "capstan", name: "harbour", url: "https://example.com/capstan/harbour" };
    const [development, production] = made.environments;
    const changed = await patch(200, {
      displayName: "Harbour",
      slug: newId("project").slice(4),
      repository,
      environments: [
        { id: production.id, slug: "production", displayName: "Live", status: "archived" },
        { slug: "staging" },
      ],
    });
    expect(changed.json).toMatchObject({
      displayName: "Harbour",
      repository: { provider: "github", ...repository },
    });
    expect(changed.json.environments).toMatchObject([
      { id: development.id, displayName: "Development", status: "active" },
      { id: production.id, displayName: "Live", status: "archived" },
      { slug: "staging", displayName: "staging", status: "active" },
    ]);
    expect((await patch(200, {})).json).toEqual(changed.json);
    expect((await patch(200, { clearRepository: true })).json).toEqual({ ...changed.json, repository: null });
    const listed = await ask(200, "GET", `${target}/environments`, owner);
    expect(listed.json.items).toEqual(changed.json.environments);

    const taken = (await newProject()).slug;
    for (const [body, loc] of [
      [{ slug: taken }, ["slug"]],
      [{ slug: "No slug" }, ["slug"]],
      [{ slug: "x".repeat(65) }, ["slug"]],
      [{ displayName: "" }, ["displayName"]],
      [{ displayName: "x".repeat(129) }, ["displayName"]],
      [{ status: "deleted" }, ["status"]],
      [{ clearRepository: true, repository }, ["clearRepository"]],
      [{ repository: { owner: "x" } }, ["repository", "name"]],
      [{ repository: { ...repository, url: "javascript:alert(1)" } }, ["repository", "url"]],
      [{ environments: [{ displayName: "No slug" }] }, ["environments", 0, "slug"]],
      [{ environments: [{ slug: "development" }] }, ["environments", 0, "slug"]],
      [{ environments: [{ slug: "two" }, { slug: "two" }] }, ["environments", 1, "slug"]],
      [{ environments: [{ id: development.id, slug: "dev" }] }, ["environments", 0, "slug"]],
      [{ environments: [{ id: newId("environment") }] }, ["environments", 0, "id"]],
      [{ environments: [{ id: development.id }, { id: development.id }] }, ["environments", 1, "id"]],
      [
        {
          environments: changed.json.environments.map(({ id }: { id: string }) => ({
            id,
            status: "archived",
          })),
        },
        ["environments"],
      ],
      [{ environments: Array.from({ length: 50 }, (_, n) => ({ slug: `e${n}` })) }, ["environments"]],
    ] as const) {
      const { json } = await patch([422, "list"], body);
      expect(json.detail[0].loc, JSON.stringify(body)).toEqual(["body", ...loc]);
    }
    expect((await patch(200, {})).json).toEqual({ ...changed.json, repository: null });
  });

  test("nobody sets what is not theirs to set: 422 at the field, and nothing changes", async () => {
    const { id } = await newProject();
    const { keyId } = await newKey();
    const strange = { organizationId: newId("organization"), id, createdAt: "2020-01-01T00:00:00Z" };
    for (const [method, target, body] of [
      ["PATCH", organization(), { displayName: "x", settings: { externalActions: true } }],
      ["PATCH", organization(), { displayName: "x", role: "owner" }],
      ["PATCH", `/v1/projects/${id}`, { organizationId: strange.organizationId }],
      ["PATCH", `/v1/projects/${id}`, { approvalThresholdMicros: 0 }],
      ["PATCH", `/v1/projects/${id}`, { settings: {} }],
      ["PATCH", `/v1/projects/${id}`, { environments: [{ slug: "e", projectId: newId("project") }] }],
      ["POST", `${organization()}/projects`, { displayName: "x", ...strange }],
      ["POST", "/v1/api-keys", { name: "k", projectId: id, createdBy: newId("user") }],
      ["POST", "/v1/api-keys", { name: "k", projectId: id, organizationId: strange.organizationId }],
      ["POST", "/v1/api-keys", { name: "k", projectId: id, scopes: ["everything"] }],
      ["POST", "/v1/api-keys", { name: "k" }],
      ["POST", `/v1/api-keys/${keyId}/rotate`, { scopes: ["credentials:write"] }],
      ["POST", `/v1/api-keys/${keyId}/rotate`, { overlapSeconds: -1 }],
      ["POST", `/v1/api-keys/${keyId}/rotate`, { overlapSeconds: 30 * 86_400 + 1 }],
    ] as const)
      await ask([422, "list"], method, target, { ...owner, body });
    await ask([422, "list"], "GET", "/v1/api-keys?includeRevoked=perhaps", owner);
    const none = { name: "k", projectId: id, environment: "nowhere" };
    await ask([422, "InvalidInput"], "POST", "/v1/api-keys", { ...owner, body: none });
  });

  test("an archived project or environment refuses work and changes at once, and is still read", async () => {
    const { id, environments } = await newProject();
    const key = await makeKey({ projectId: id, scopes: [...SCOPES] });
    const live = (
      await ask(200, "POST", "/v1/api-keys", {
        ...owner,
        body: { name: "live", projectId: id, environment: "production" },
      })
    ).json.apiKey;
    const run = (key: string) =>
      call("POST", at(MATH, "invoke"), { key, body: { input: { expression: "1 + 1" } } });
    const { executionId, receiptId } = (await run(key)).json;
    const hook = (await ask(201, "POST", "/v1/delivery-endpoints", { key, body: hookBody })).json;
    const patch = (body: object) => ask(200, "PATCH", `/v1/projects/${id}`, { ...owner, body });
    const slug = ({ slug }: { slug: string }) => slug === "production";
    await patch({ environments: [{ id: environments.find(slug).id, status: "archived" }] });
    expect((await run(live)).status).toBe(403);
    expect((await run(key)).status).toBe(200);
    await patch({ status: "archived" });
    const refused = await run(key);
    expect(refused.json.detail).toMatchObject({
      code: "AuthorizationFailed",
      message: expect.stringContaining("archived"),
    });
    for (const target of [
      `/v1/jobs/${executionId}`,
      `/v1/jobs/${executionId}/receipt`,
      `/v1/projects/${id}/jobs`,
    ])
      await get(200, target, { key });
    expect(receiptId).toMatch(/^rcpt_/);
    const found = `/v1/delivery-endpoints/${hook.endpointId}`;
    const turned = { key, body: { url: "https://elsewhere.example/in" } };
    await ask([403, "AuthorizationFailed"], "PATCH", found, turned);
    await get(200, "/v1/delivery-endpoints", { key });
    await ask([422, "InvalidInput"], "POST", "/v1/api-keys", {
      ...owner,
      body: { name: "k", projectId: id },
    });
    await patch({ status: "active" });
    expect((await run(key)).status).toBe(200);
  });

  test("keys are listed under both names; a rotated one works for the overlap and is rotated once", async () => {
    const body = {
      name: "To rotate",
      projectId: tenant.projectId,
      scopes: ["jobs:read"],
      expiresInSeconds: 3_600,
    };
    const made = (await ask(200, "POST", "/v1/api-keys", { ...owner, body })).json;
    const rotate = (wanted: Wanted, keyId: string, body: object = {}) =>
      ask(wanted, "POST", `/v1/api-keys/${keyId}/rotate`, { ...owner, body });
    const works = async (key: string) => (await call("GET", "/v1/jobs?limit=1", { key })).status;
    const second = (await rotate(200, made.keyId, { overlapSeconds: 120 })).json;
    expect(second).toMatchObject({ name: made.name, scopes: made.scopes, environment: "development" });
    expect(Date.parse(second.expiresAt) - Date.parse(second.createdAt)).toBe(3_600_000);
    expect([await works(made.apiKey), await works(second.apiKey)]).toEqual([200, 200]);
    const again = await rotate([409, "KeyNotRotatable"], made.keyId);
    expect(again.json.detail.details).toEqual({ keyId: made.keyId, replacedBy: second.keyId });
    const third = (await rotate(200, second.keyId)).json;
    expect([await works(second.apiKey), await works(third.apiKey)]).toEqual([401, 200]);
    const list = async (query: string) => (await ask(200, "GET", `/v1/api-keys${query}`, owner)).json;
    const all = await list("?includeRevoked=true");
    expect(all.keys).toEqual(all.items);
    const of = (id: string) => all.keys.find(({ keyId }: { keyId: string }) => keyId === id);
    expect(of(made.keyId)).toMatchObject({ replacedBy: second.keyId, revoked: false });
    expect(Date.parse(of(made.keyId).expiresAt) - Date.now()).toBeLessThan(121_000);
    expect(of(second.keyId)).toMatchObject({ replacedBy: third.keyId, revoked: true });
    expect((await list("")).keys.map(({ keyId }: { keyId: string }) => keyId)).not.toContain(second.keyId);
    expect(JSON.stringify(all)).not.toContain(made.apiKey.slice(30));
    const wide = await makeKeyWithId({ projectId: tenant.projectId, scopes: ["credentials:write"] });
    await ask([403, "AuthorizationFailed"], "POST", `/v1/api-keys/${wide.keyId}/rotate`, {
      ...(await person("member")),
      body: {},
    });
  });
});

describe("the audit log", () => {
  const log = () => `/v1/organizations/${tenant.organizationId}/audit-log`;
  const read = async (query = "") => (await ask(200, "GET", `${log()}?${query}`, owner)).json;

  test("is narrowed by action, actor, project, thing and day, and its pages follow each other", async () => {
    const body = { name: "=HYPERLINK(1)", projectId: tenant.projectId };
    const { keyId, apiKey } = (await ask(200, "POST", "/v1/api-keys", { ...owner, body })).json;
    await ask(200, "DELETE", `/v1/api-keys/${keyId}`, owner);
    const { items } = await read(`subject=${keyId}`);
    expect(items.map(({ action }: { action: string }) => action)).toEqual(["key.revoked", "key.created"]);
    const [revoked] = items;
    for (const query of [
      `actor=${revoked.actorId}`,
      `actor=${encodeURIComponent(revoked.actor.toUpperCase())}`,
      `action=key.revoked`,
      `action=key`,
      `projectId=${tenant.projectId}`,
      `from=2020-01-01&to=2999-01-01`,
    ])
      expect((await read(`subject=${keyId}&${query}`)).items).toContainEqual(revoked);
    for (const query of [
      `actor=${newId("user")}`,
      "action=key.rotated",
      "action=ke",
      `projectId=${tenant.otherProjectId}`,
      "to=2020-01-01",
      "from=2999-01-01",
    ])
      expect((await read(`subject=${keyId}&${query}`)).items).toEqual([]);
    const first = await read(`subject=${keyId}&limit=1`);
    expect((await read(`subject=${keyId}&limit=1&cursor=${first.nextCursor}`)).items).toEqual([items[1]]);
    const { text, headers } = await ask(200, "GET", `${log()}-export?subject=${keyId}`, owner);
    expect(headers).toMatchObject({ "content-type": "text/csv; charset=utf-8" });
    const lines = text.split("\r\n");
    expect(lines[0]).toMatch(/^time,action,actor,/);
    expect(lines.slice(1, 3).map((line) => line.split(",")[1])).toEqual(["key.revoked", "key.created"]);
    expect(lines).toHaveLength(4);
    expect(text).not.toContain(apiKey.slice(30));
  });

  test("422 for what no action, day or page is", async () => {
    for (const query of ["action=Key", "action=key.", "from=yesterday", "to=2026-02-30"]) {
      await ask([422, "list"], "GET", `${log()}?${query}`, owner);
      await ask([422, "list"], "GET", `${log()}-export?${query}`, owner);
    }
    for (const query of ["limit=0", "limit=201"]) await ask([422, "list"], "GET", `${log()}?${query}`, owner);
  });
});

describe("what an organization's settings allow", () => {
  const agree = (organizationId: string, limits: object) =>
    organizations.changePlan(systemCtx("test"), organizationId, { limits });

  test("403: executions that would reach a provider are refused at every door; the sandbox's go on", async () => {
    const { organizationId, key } = vault.tenant;
    const openai = { input, preferredModel: "gpt-4.1-mini" };
    const queued = await post(200, at(TEXT, "jobs"), openai, { key });
    await post(200, `/v1/jobs/${queued.json.jobId}/cancel`, undefined, { key });
    await organizations.setExternalActions(systemCtx("test"), organizationId, false);
    const refused = [403, "EXTERNAL_ACTIONS_DISABLED"] as const;
    const competitor = { axis: "provider", providerPin: "openai-text" };
    const pin = { provider: "openai", model: "gpt-4.1-mini", api: "responses" };
    const sampling = { maxOutputTokens: 100 };
    for (const [path, body] of [
      [at(TEXT, "invoke"), openai],
      [at(TEXT, "invoke"), { ...openai, executionMode: "Stream" }],
      [at(TEXT, "jobs"), openai],
      [`/v1/jobs/${queued.json.jobId}/retry`, undefined],
      [COMPARISONS, { ...COMPARED, competitors: [COMPARED.competitors[0], competitor] }],
      [PINNED, { ...PIN, pin, sampling }],
      [BULKS, { ...BULK, pin, sampling }],
    ] as const) {
      const { json } = await post([...refused], path, body, { key });
      expect((json.detail ?? json).details, path).toMatchObject({
        upgradeUrl: expect.stringContaining(`/projects/${vault.tenant.projectId}/organization`),
      });
    }
    const model = "openai/gpt-4.1-mini";
    await post([...refused], CHAT, { model, messages: [{ role: "user", content: "Hello." }] }, { key });
    await post([...refused], RESPONSES, { model, input: "Hello." }, { key });
    await post(200, at(TEXT, "invoke"), { input, preferredModel: "sandbox-1" }, { key });
    const reason = "external_actions_disabled";
    const url = expect.stringContaining(`/projects/${vault.tenant.projectId}/organization`);
    const ready = (await ask(200, "GET", `/v1/diagnostics/readiness?capabilities=${TEXT}`, { key })).json;
    expect(ready).toMatchObject({
      ready: false,
      capabilities: [
        {
          accessDecision: {
            runnable: false,
            reason,
            requiredAction: { kind: "enable_external_actions", url },
          },
        },
      ],
    });
    const { detail } = ready.checks.find(({ name }: { name: string }) => name === "provider");
    expect(detail).toContain("switched off");
    const { targets } = (await ask(200, "GET", at(TEXT, "execution-targets"), { key })).json;
    const reasonOf = (provider: string) =>
      targets.find((each: { provider: string }) => each.provider === provider).availability.reason;
    expect([reasonOf("openai"), reasonOf("sandbox")]).toEqual([reason, null]);
    const told = async () => (await ask(200, "GET", `/v1/capabilities/${TEXT}`, { key })).json.interaction;
    expect(await told()).toEqual({ typicallyRequired: true, reason });
    await organizations.setExternalActions(systemCtx("test"), organizationId, true);
    expect(await told()).toEqual({ typicallyRequired: false, reason: null });
  });

  test("403: a plan without room for one more project, environment or key says so, and which plan has", async () => {
    const full = await makeTenant();
    const owner = { headers: await sessionHeaders(full.organizationId, "owner") };
    await agree(full.organizationId, { projects: 1, environments: 2, apiKeys: 1 });
    const environments = [{ slug: "staging", displayName: "Staging" }];
    for (const [method, path, body, limit] of [
      ["POST", `/v1/organizations/${full.organizationId}/projects`, { displayName: "More" }, "projects"],
      ["PATCH", `/v1/projects/${full.projectId}`, { environments }, "environments"],
      [
        "POST",
        "/v1/api-keys",
        { projectId: full.projectId, name: "more", environment: "development" },
        "apiKeys",
      ],
    ] as const) {
      const { json } = await ask([403, "PlanLimitReached"], method, path, { ...owner, body });
      expect(json.detail.details).toMatchObject({ limit, plan: "self-hosted", upgrade: null });
    }
    const { json } = await ask(200, "GET", `/v1/billing/plans?organizationId=${full.organizationId}`, owner);
    expect(json).toMatchObject({
      currentPlan: "capstan.self_hosted.v1",
      organizationId: full.organizationId,
      limits: { projects: 1, apiKeys: 1, users: null },
      used: { users: 1, projects: 2, activeDurableJobs: 0 },
    });
  });

  test("429: the executions of an hour are used up, with when there are more", async () => {
    const busy = await makeTenant();
    await agree(busy.organizationId, { lightweightInferencesPerHour: 1 });
    await post(200, at(TEXT, "invoke"), { input }, { key: busy.key });
    const refused = await post([429, "RateLimited"], at(TEXT, "invoke"), { input }, { key: busy.key });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((refused.json.detail ?? refused.json).details).toMatchObject({
      most: 1,
      current: 1,
      upgrade: null,
    });
  });
});

describe("provider credentials", () => {
  const secret = "sk-of-this-test-alone";
  const create = (wanted: Wanted, body: object) =>
    ask(wanted, "POST", vault.path, { ...vault.owner, body: { provider: "openai", secret, ...body } });
  const listed = async () => (await ask(200, "GET", vault.path, vault.owner)).json.items;

  test("create asks the provider first: refused is 422 at the field, silence 503, and nothing is stored", async () => {
    const before = await listed();
    vault.vendor.answer({ status: 401, json: { error: { code: "invalid_api_key", message: secret } } });
    const refused = await create([422, "list"], {});
    expect(refused.json.detail).toEqual([
      { loc: ["body", "secret"], msg: expect.stringContaining("OpenAI"), type: "refused_by_provider" },
    ]);
    for (const script of ["close", { status: 500 }, { status: 429 }, { text: "no list" }] as const) {
      vault.vendor.answer(script);
      expect((await create([503, "ProviderUnavailable"], {})).text).not.toContain(secret);
    }
    vault.vendor.answer(MODELS);
    expect(await listed()).toEqual(before);

    const made = await create(200, { label: "Team" });
    expect(vault.vendor.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /models"]);
    expect(vault.vendor.arrived[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(made.json).toMatchObject({ label: "Team", last4: "lone", status: "ready", bindings: [] });
    expect(made.text).not.toContain(secret);
    expect((await listed())[0]).toEqual(made.json);
    await ask(200, "DELETE", `${vault.path}/${made.json.credentialId}`, vault.owner);
  });

  test("422 for a provider, secret, address or models that cannot be", async () => {
    for (const [body, field] of [
      [{ provider: "nobody" }, "provider"],
      [{ provider: "sandbox" }, "provider"],
      [{ secret: "" }, "secret"],
      [{ secret: '{"apiKey": 1}' }, "secret"],
      [{ secret: '{"apiKey": "sk", "other": "x"}' }, "secret"],
      [{ secret: "{half" }, "secret"],
      [{ secret: "sk-\nsecond line" }, "secret"],
      [{ secret: undefined }, "secret"],
      [{ label: "" }, "label"],
      [{ endpointUrl: "https://elsewhere.example" }, "endpointUrl"],
      [{ models: "m:1:1" }, "models"],
      [{ provider: "openai-compatible", models: "m:1:1" }, "endpointUrl"],
      [{ provider: "openai-compatible", endpointUrl: "https://x.example" }, "models"],
      [{ provider: "openai-compatible", endpointUrl: "no url", models: "m:1:1" }, "endpointUrl"],
      [
        { provider: "openai-compatible", endpointUrl: "https://a:b@x.example", models: "m:1:1" },
        "endpointUrl",
      ],
      [{ provider: "openai-compatible", endpointUrl: "https://x.example", models: "free" }, "models"],
      [{ provider: "openai-compatible", endpointUrl: "https://x.example", models: "," }, "models"],
    ] as const) {
      const { json } = await create([422, "list"], body);
      expect(json.detail[0].loc, JSON.stringify(body)).toEqual(["body", field]);
    }
    env.ALLOW_PRIVATE_ADDRESSES = false;
    for (const endpointUrl of ["http://x.example", "https://127.0.0.1/v1", "https://localhost"]) {
      const { json } = await create([422, "list"], {
        provider: "openai-compatible",
        endpointUrl,
        models: "m:1:1",
      });
      expect(json.detail[0].loc).toEqual(["body", "endpointUrl"]);
    }
    env.ALLOW_PRIVATE_ADDRESSES = true;
  });

  test("403 to members, 404 to strangers and for what is not there", async () => {
    const member = { headers: await sessionHeaders(vault.tenant.organizationId, "member") };
    const { credentialId, bindingId } = await vault.connect();
    const one = `${vault.path}/${credentialId}`;
    const bind = { projectId: vault.tenant.projectId, environment: "development", provider: "openai" };
    const requests = (path: string, binding: string) =>
      [
        ["POST", `${path}/rotate`, { provider: "openai", secret }],
        ["POST", `${path}/bindings`, bind],
        ["DELETE", `${path}/bindings/${binding}`, undefined],
        ["DELETE", path, undefined],
      ] as const;
    const create = { provider: "openai", secret };
    for (const [method, target, body] of requests(one, bindingId)) {
      await ask([403, "AuthorizationFailed"], method, target, { ...member, body });
      await ask([404, "NotFound"], method, target, { ...owner, body });
    }
    await ask([403, "AuthorizationFailed"], "GET", vault.path, member);
    await ask([403, "AuthorizationFailed"], "POST", vault.path, { ...member, body: create });
    await ask([404, "NotFound"], "GET", vault.path, owner);
    await ask([404, "NotFound"], "POST", vault.path, { ...owner, body: create });
    for (const [method, target, body] of requests(`${vault.path}/${newId("credential")}`, newId("binding")))
      await ask([404, "NotFound"], method, target, { ...vault.owner, body });
  });

  test("rotate keeps id, bindings and address; refused or unreachable, the old secret stays", async () => {
    const { credentialId } = await vault.connect();
    const target = `${vault.path}/${credentialId}/rotate`;
    const rotate = (wanted: Wanted, body: object) =>
      ask(wanted, "POST", target, { ...vault.owner, body: { provider: "openai", secret, ...body } });
    const before = (await listed())[0];
    vault.vendor.answer({ status: 401 });
    await rotate([422, "list"], {});
    vault.vendor.answer("close");
    await rotate([503, "ProviderUnavailable"], {});
    vault.vendor.answer(MODELS);
    for (const body of [
      { provider: "openai-compatible" },
      { endpointUrl: "https://x.example" },
      { models: "m:1:1" },
    ])
      await rotate([422, "list"], body);
    expect((await listed())[0]).toEqual(before);
    const { json } = await rotate(200, { label: "Second" });
    expect(json).toMatchObject({
      ...before,
      label: "Second",
      last4: "lone",
      rotatedAt: expect.any(String),
      fingerprint: expect.not.stringContaining(before.fingerprint),
      checkedAt: expect.any(String),
    });
  });

  test("one credential a provider and environment: again is the same binding, another is 409", async () => {
    const [first, second] = [await vault.connect(), await create(200, {})];
    const bind = (wanted: Wanted, credentialId: string, more = {}) =>
      ask(wanted, "POST", `${vault.path}/${credentialId}/bindings`, {
        ...vault.owner,
        body: { projectId: vault.tenant.projectId, environment: "development", provider: "openai", ...more },
      });
    expect((await bind(200, first.credentialId)).json.bindingId).toBe(first.bindingId);
    const refused = await bind([409, "AlreadyConnected"], second.json.credentialId);
    expect(refused.json.detail.details).toEqual(first);
    for (const more of [
      { provider: "openai-compatible" },
      { environment: "moon" },
      { projectId: newId("project") },
    ])
      await bind([422, "list"], second.json.credentialId, more);
    await bind(200, second.json.credentialId, { projectId: vault.tenant.otherProjectId });
    const one = `${vault.path}/${first.credentialId}/bindings/${first.bindingId}`;
    expect((await ask(200, "DELETE", one, vault.owner)).json).toEqual({ unbound: true });
    await bind(200, second.json.credentialId);
    await vault.connect();
  });
});

describe("connections", () => {
  const CONNECTIONS = "/v1/connections";
  const account = { provider: "openai", secret: "sk-of-this-test-alone" };
  const send = (wanted: Wanted, method: string, target: string, body?: object) =>
    ask(wanted, method, `${CONNECTIONS}${target}`, { ...vault.owner, ...(body ? { body } : {}) });
  const start = async () =>
    (
      await send(200, "POST", "/onboarding/sessions", {
        capabilities: [TEXT],
        projectId: vault.tenant.projectId,
      })
    ).json.sessionId;

  test("404 for what is not there, and to strangers", async () => {
    const { projectId } = vault.tenant;
    const bind = { projectId, environment: "development" };
    const { credentialId } = await vault.connect();
    for (const [method, target, body] of [
      ["GET", "", undefined],
      ["DELETE", "", undefined],
      ["GET", "/bindings", undefined],
      ["POST", "/bindings", bind],
      ["DELETE", `/bindings/${newId("binding")}`, undefined],
      ["POST", "/test", undefined],
      ["POST", "/repair", undefined],
      ["POST", "/rotate", account],
    ] as const) {
      await send([404, "NotFound"], method, `/${newId("credential")}${target}`, body);
      const foreign = `${CONNECTIONS}/${credentialId}${target}`;
      await ask([404, "NotFound"], method, foreign, { ...owner, body });
    }
    const ofProject = `/v1/projects/${projectId}/provider-credentials`;
    await ask([404, "NotFound"], "POST", ofProject, { ...owner, body: account });
    for (const target of ["", "/result"])
      await send([404, "NotFound"], "GET", `/onboarding/sessions/${newId("onboarding")}${target}`);
    await send([404, "NotFound"], "POST", `/onboarding/sessions/${newId("onboarding")}/complete`, {
      provider: "openai",
    });
  });

  test("409 where another one serves, 503 where the provider could not be asked, 410 after a session's end", async () => {
    const { projectId } = vault.tenant;
    await vault.connect();
    const loose = (await send(200, "POST", "", { ...account, autoBind: false })).json.connection;
    const sessionId = await start();
    const complete = `/onboarding/sessions/${sessionId}/complete`;
    const inPlace = { ...account, projectId };
    const ofProject = `/v1/projects/${projectId}/provider-credentials`;
    await send([409, "AlreadyConnected"], "POST", "", inPlace);
    await send([409, "AlreadyConnected"], "POST", `/${loose.id}/rotate`, inPlace);
    await send([409, "AlreadyConnected"], "POST", `/${loose.id}/bindings`, {
      projectId,
      environment: "development",
    });
    await send([409, "AlreadyConnected"], "POST", complete, account);
    await ask([409, "AlreadyConnected"], "POST", ofProject, { ...vault.owner, body: account });
    vault.vendor.answer("close");
    await send([503, "ProviderUnavailable"], "POST", "", inPlace);
    await send([503, "ProviderUnavailable"], "POST", `/${loose.id}/rotate`, account);
    await send([503, "ProviderUnavailable"], "POST", complete, account);
    await ask([503, "ProviderUnavailable"], "POST", ofProject, { ...vault.owner, body: account });
    vault.vendor.answer(MODELS);
    await pool.query("UPDATE onboarding_session SET expires_at = created_at WHERE id = $1", [sessionId]);
    for (const target of ["", "/result"])
      await send([410, "Gone"], "GET", `/onboarding/sessions/${sessionId}${target}`);
    await send([410, "Gone"], "POST", complete, account);
    await send(200, "DELETE", `/${loose.id}`);
  });

  test("422 for a project that cannot be", async () => {
    await send([422, "list"], "GET", `?projectId=${"x".repeat(65)}`);
  });
});

describe("adapters", () => {
  const ADAPTERS = "/v1/adapters";
  const ALIASES = "/v1/adapter-aliases";
  const DEFAULT = `/v1/adapter-defaults/${IMAGE}`;
  const unbound = () => ({ key: tenant.unboundKey });

  test("an adapter is registered with all that is said of it, and answered so again", async () => {
    const said = {
      ...newAdapter(),
      compatibleModels: ["sandbox-image"],
      triggerWords: ["brass rider"],
      recommendedWeight: 0.75,
      licenseName: "Apache-2.0",
      licenseUrl: "https://example.com/license",
      licenseStatus: "declared",
      provenance: { trainedBy: ["us"] },
    };
    const { json } = await post(200, ADAPTERS, { ...said, type: "lora", environment: "development" });
    expect(json).toMatchObject({
      ...said,
      source: { ...said.source, filePath: null, sha256: null, byteLength: null },
      frozen: true,
      sourceHealth: { status: "unknown", checkedAt: null, detail: null },
      environment: "development",
      projectId: tenant.projectId,
      aliases: [],
    });
    expect((await get(200, `${ADAPTERS}/${json.adapterId}`)).json).toEqual(json);
    expect((await get(200, `${ADAPTERS}?limit=1`)).json.items).toEqual([json]);
    const { source } = newAdapter();
    const { json: loose } = await post(200, ADAPTERS, {
      ...newAdapter(),
      source: { ...source, revision: null },
    });
    expect(loose).toMatchObject({ frozen: false });
  });

  test("422 for what no adapter is, each by its field", async () => {
    const { source, ...said } = newAdapter();
    for (const [more, loc] of [
      [{ displayName: " " }, ["displayName"]],
      [{ displayName: "x".repeat(256) }, ["displayName"]],
      [{ type: "checkpoint" }, ["type"]],
      [{ recommendedWeight: 2.1 }, ["recommendedWeight"]],
      [{ recommendedWeight: -0.1 }, ["recommendedWeight"]],
      [{ triggerWords: Array.from({ length: 65 }, (_, n) => `${n}`) }, ["triggerWords"]],
      [{ licenseUrl: "javascript:alert(1)" }, ["licenseUrl"]],
      [{ licenseStatus: "good" }, ["licenseStatus"]],
      [{ provenance: [] }, ["provenance"]],
      [{ environment: "No Slug" }, ["environment"]],
      [{ more: 1 }, ["more"]],
      [{ source: undefined }, ["source"]],
      [{ source: { ...source, kind: "torrent" } }, ["source", "kind"]],
      [{ source: { ...source, ref: "" } }, ["source", "ref"]],
      [{ source: { ...source, more: 1 } }, ["source", "more"]],
      [{ source: { ...source, provider: "nobody" } }, ["source", "provider"]],
      [{ source: { ...source, provider: "openai" } }, ["source", "provider"]],
      [{ source: { ...source, provider: null } }, ["source", "provider"]],
      [{ source: { ...source, filePath: "a.safetensors" } }, ["source", "filePath"]],
      [{ source: { kind: "huggingface", ref: "maker/none" } }, ["source", "ref"]],
      [{ source: { kind: "huggingface", ref: "no repository" } }, ["source", "ref"]],
      [{ source: { kind: "service_artifact", ref: newId("artifact") } }, ["source", "ref"]],
      [{ source: { kind: "service_artifact", ref: "art", revision: "1" } }, ["source", "revision"]],
    ] as const) {
      const { json } = await post([422, "list"], ADAPTERS, { source, ...said, ...more });
      expect(json.detail[0].loc, JSON.stringify(more)).toEqual(["body", ...loc]);
    }
    const taken = newAdapter();
    await post(200, ADAPTERS, taken);
    const { json } = await post([422, "list"], ADAPTERS, {
      ...taken,
      displayName: taken.displayName.toUpperCase(),
    });
    expect(json.detail[0]).toMatchObject({ loc: ["body", "displayName"], type: "name_taken" });
  });

  test("404 for adapters and aliases that are not there, 409 for an adapter that is in use", async () => {
    const none = `${ADAPTERS}/${newId("adapter")}`;
    await get([404, "NotFound"], none);
    await ask([404, "NotFound"], "DELETE", none, { key: tenant.key });
    await post([404, "NotFound"], `${none}/revalidate`);
    const { json } = await ask([409, "AdapterInUse"], "DELETE", `${ADAPTERS}/${lora.adapterId}`, {
      key: tenant.key,
    });
    expect(json.detail.details.references).toContainEqual({ kind: "alias", name: "Hero" });
    const alias = `${ALIASES}/nobody`;
    await get([404, "NotFound"], alias);
    await get([404, "NotFound"], `${alias}/versions`);
    await post([404, "NotFound"], `${alias}/promotions`, { target: { adapterId: lora.adapterId } });
    await post([404, "NotFound"], `${alias}/recipe-binding`, {});
  });

  test("422 for targets, versions, cursors and weights that are not there or cannot be", async () => {
    const absent = { adapterId: newId("adapter") };
    for (const [target, body, loc] of [
      [ALIASES, { alias: "New", target: absent }, ["target", "adapterId"]],
      [ALIASES, { alias: "HERO", target: { adapterId: lora.adapterId } }, ["alias"]],
      [ALIASES, { alias: "a/b", target: { adapterId: lora.adapterId } }, ["alias"]],
      [ALIASES, { alias: "-", target: { adapterId: lora.adapterId } }, ["alias"]],
      [`${ALIASES}/hero/promotions`, { target: absent }, ["target", "adapterId"]],
      [`${ALIASES}/hero/promotions`, { target: { ...absent, weight: 3 } }, ["target", "weight"]],
      [`${ALIASES}/hero/recipe-binding`, { versionId: newId("aliasVersion") }, ["versionId"]],
    ] as const) {
      const { json } = await post([422, "list"], target, body);
      expect(json.detail[0].loc).toEqual(["body", ...loc]);
    }
    for (const target of [ADAPTERS, ALIASES, `${ALIASES}/hero/versions`])
      for (const query of ["cursor=x", "limit=0", "limit=201", "environment=No Slug"])
        await get([422, "list"], `${target}?${query}`);
  });

  test("a public file is suggested, accepted once, and used from then on", async () => {
    const { json: seen } = await post(200, `${ADAPTERS}/source-preview`, { query: "maker/moss" });
    expect(seen).toMatchObject({
      ref: "maker/moss",
      selectedFile: "moss.safetensors",
      baseModelFamily: "flux",
    });
    await post([422, "PROJECT_REQUIRED"], `${ADAPTERS}/source-preview`, { query: "maker/moss" }, unbound());
    const suggested = await post(200, `${ADAPTERS}/suggestions`, { query: "maker/moss" });
    expect(suggested.json).toMatchObject({ resolution: "suggestion", preview: seen });
    const accept = () => post(200, `${ADAPTERS}/suggestions/accept`, { query: "maker/moss" });
    const { json: made } = await accept();
    expect(made).toMatchObject({ resolution: "registered", adapter: { frozen: true } });
    expect((await accept()).json).toEqual({ ...made, resolution: "used" });
    const { json: looked } = await post(200, `${ADAPTERS}/${made.adapter.adapterId}/revalidate`);
    expect(looked).toMatchObject({ source: made.adapter.source, sourceHealth: { status: "healthy" } });
  });

  test("503 while a source cannot be asked, 422 for a query that names none", async () => {
    const requests = [
      [ADAPTERS, { ...newAdapter(), source: { kind: "huggingface", ref: "maker/down" } }],
      [`${ADAPTERS}/source-preview`, { query: "maker/down" }],
      [`${ADAPTERS}/suggestions`, { query: "maker/down" }],
      [`${ADAPTERS}/suggestions/accept`, { query: "maker/down" }],
    ] as const;
    for (const [target, body] of requests) await post([422, "list"], target, body);
    lora.hub.answerOtherwise(() => ({ status: 500 }));
    for (const [target, body] of requests) await post([503, "ProviderUnavailable"], target, body);
    lora.hub.answerOtherwise(() => undefined);
    for (const [target] of requests.slice(1))
      for (const query of ["", "x".repeat(2_049), null]) await post([422, "list"], target, { query });
    await post([422, "list"], `${ADAPTERS}/source-preview`, { query: "no repository" });
  });

  test("an alias whose name has spaces is found by its address", async () => {
    const target = { adapterId: await lora.register() };
    const { json } = await post(200, ALIASES, { alias: "Brass Rider 2.0", target });
    expect((await get(200, `${ALIASES}/brass%20rider%202.0`)).json).toEqual(json);
  });

  test("a default is set, read and cleared; 404 for no capability, 422 for one that takes no adapters", async () => {
    const change = (wanted: Wanted, method: string, target: string, body?: object) =>
      ask(wanted, method, target, { key: tenant.key, ...(body ? { body } : {}) });
    expect((await change(200, "PUT", DEFAULT, { alias: "HERO" })).json).toMatchObject({ alias: "Hero" });
    expect((await get(200, DEFAULT)).json).toMatchObject({ alias: "Hero", environment: "development" });
    await change([422, "list"], "PUT", DEFAULT, { alias: "nobody" });
    expect((await change(200, "DELETE", DEFAULT)).json).toMatchObject({ alias: null, setAt: null });
    for (const [key, wanted] of [
      ["image.draw.v1", [404, "UNKNOWN_CAPABILITY"]],
      [TEXT, [422, "list"]],
    ] as const) {
      const target = DEFAULT.replace(IMAGE, key);
      await get([...wanted], target);
      await change([...wanted], "PUT", target, { alias: "hero" });
      await change([...wanted], "DELETE", target);
    }
  });

  const UPLOAD = `${ADAPTERS}/upload`;

  test("weights are uploaded under a name, and say themselves what the form leaves open", async () => {
    const bytes = someWeights();
    const { json } = await post(
      200,
      UPLOAD,
      uploadOf(bytes, { displayName: "Wet stones", environment: "", baseModelFamily: "" }),
    );
    expect(json).toMatchObject({
      displayName: "Wet stones",
      type: "lora",
      environment: "development",
      projectId: tenant.projectId,
      source: { kind: "service_artifact", sha256: sha256Hex(bytes), byteLength: bytes.byteLength },
      frozen: true,
      sourceHealth: { status: "healthy" },
      baseModelFamily: "flux",
      triggerWords: ["mossy stone", "wet light"],
      licenseName: "Apache-2.0",
    });
    expect((await get(200, `${ADAPTERS}/${json.adapterId}`)).json).toEqual(json);
    expect((await get(200, `/v1/artifacts/${json.source.ref}`)).bytes).toEqual(bytes);
    const said = {
      baseModelFamily: "sdxl",
      recommendedWeight: "0.75",
      triggerWords: "brass rider, at dusk",
      licenseName: "MIT",
      licenseUrl: "https://example.com/license",
      licenseStatus: "verified",
      compatibleModels: "sandbox-image",
    };
    const other = await post(200, UPLOAD, uploadOf(bytes, said));
    expect(other.json).toMatchObject({
      ...said,
      recommendedWeight: 0.75,
      triggerWords: ["brass rider", "at dusk"],
      compatibleModels: ["sandbox-image"],
      source: { sha256: json.source.sha256 },
    });
    expect(other.json.source.ref).not.toBe(json.source.ref);
    const taken = await post([422, "list"], UPLOAD, uploadOf(someWeights(), { displayName: "WET STONES" }));
    expect(taken.json.detail[0]).toMatchObject({ loc: ["body", "displayName"], type: "name_taken" });
  });

  test("422 at its place for each part of an upload that is missing, wrong, twice or unknown", async () => {
    const file = weightsPart(someWeights());
    const name = ["displayName", `Adapter ${ulid()}`] satisfies [string, string];
    for (const [parts, loc, type] of [
      [[name], [], "multipart_invalid"],
      [[], [], "multipart_invalid"],
      [[file], ["displayName"], "missing"],
      [[["displayName", " "], file], ["displayName"], "string_too_short"],
      [[name, name, file], ["displayName"], "repeated"],
      [[name, file, name], ["displayName"], "repeated"],
      [[name, file, file], [], "multipart_invalid"],
      [[name, ["colour", "blue"], file], ["colour"], "extra_forbidden"],
      [[name, file, ["colour", "blue"]], ["colour"], "extra_forbidden"],
      [[name, ["weights", { filename: "a", bytes: Buffer.from("a") }]], ["weights"], "extra_forbidden"],
      [[name, ["recommendedWeight", "heavy"], file], ["recommendedWeight"], "number_type"],
      [[name, ["recommendedWeight", "3"], file], ["recommendedWeight"], "less_than_equal"],
      [[name, ["licenseStatus", "mine"], file], ["licenseStatus"], "enum"],
      [[name, file, ["licenseUrl", "javascript:alert(1)"]], ["licenseUrl"], "string_pattern_mismatch"],
      [[name, ["baseModelFamily", "x".repeat(129)], file], ["baseModelFamily"], "string_too_long"],
      [[name, ["baseModelFamily", "a\0b"], file], ["baseModelFamily"], "nul_character"],
      [[name, weightsPart(Buffer.alloc(0))], ["file"], "file_too_short"],
      [[name, weightsPart(Buffer.from("%PDF-1.7 and so on"))], ["file"], "header_too_large"],
    ] as const) {
      const { json } = await post([422, "list"], UPLOAD, new Form(parts));
      expect([json.detail[0].loc, json.detail[0].type], JSON.stringify(parts.map(([part]) => part))).toEqual([
        ["body", ...loc],
        type,
      ]);
    }
  });

  test("408, 413, 415 and 429 for uploads that are slow, too large, no form or too many", async () => {
    const before = { ...env };
    const form = uploadOf();
    const headers = { "content-type": form.contentType };
    await post([415, "UnsupportedMediaType"], UPLOAD, { displayName: "x" });
    await post([422, "list"], UPLOAD, "x", { headers: { "content-type": "multipart/form-data" } });
    const long = { ...headers, "content-length": String(3 * 1024 ** 3) };
    const announced = await post([413, "PayloadTooLarge"], UPLOAD, form.bytes, { headers: long });
    expect(announced.json.detail.details).toEqual({ maxBytes: 2 * 1024 ** 3 });
    const open: (() => void)[] = [];
    async function* half() {
      yield form.bytes.subarray(0, 300);
      await new Promise<void>((resolve) => open.push(resolve));
    }
    try {
      Object.assign(env, { ADAPTER_UPLOAD_MAX_BYTES: 100 });
      const found = await post([413, "PayloadTooLarge"], UPLOAD, form);
      expect(found.json.detail.details).toEqual({ maxBytes: 100 });
      Object.assign(env, before, { ADAPTER_UPLOAD_IDLE_MS: 20 });
      await post([408, "RequestTimeout"], UPLOAD, undefined, { headers, stream: half() });
      Object.assign(env, before, { ADAPTER_UPLOADS_PER_ORGANIZATION: 1 });
      const first = post([422, "list"], UPLOAD, undefined, { headers, stream: half() });
      while (open.length < 2) await new Promise(setImmediate);
      const refused = await post([429, "RateLimited"], UPLOAD, form);
      expect(refused.headers["retry-after"]).toBe("10");
      open[1]?.();
      await first;
      await post(200, UPLOAD, form);
    } finally {
      Object.assign(env, before);
      for (const end of open) end();
    }
  });

  test("uploaded weights are served to a vendor whole or in part, and kept by nobody; 404 for whatever is wrong", async () => {
    const whole = await ask(200, "GET", lora.link, {});
    expect(whole.headers).toMatchObject({
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
      "accept-ranges": "bytes",
      "content-type": "application/octet-stream",
    });
    const sized = await ask(200, "HEAD", lora.link, {});
    expect([sized.bytes.length, sized.headers["content-length"]]).toEqual([0, String(whole.bytes.length)]);
    const part = await ask(206, "GET", lora.link, { headers: { range: "bytes=0-7" } });
    expect(part.bytes).toEqual(whole.bytes.subarray(0, 8));
    expect(part.headers["cache-control"]).toBe("private, no-store");
    await ask(304, "GET", lora.link, { headers: { "if-none-match": whole.headers.etag ?? "" } });
    await ask([416, "RangeNotSatisfiable"], "GET", lora.link, {
      headers: { range: `bytes=${whole.bytes.length}-` },
    });
    await ask([422, "list"], "GET", `/v1/adapter-weights/${"x".repeat(129)}`, {});

    const [, expires = "", mac = ""] = lora.link.split(".");
    const over = weightsLink(lora.artifactId, new Date(Date.now() - 1_000));
    const gone = weightsLink(newId("artifact"), new Date(Date.now() + 60_000));
    const answers = new Set<string>();
    for (const wrong of [
      "/v1/adapter-weights/nothing",
      `/v1/adapter-weights/${lora.artifactId}`,
      lora.link.replace(".safetensors", ""),
      lora.link.replace(
        mac,
        mac.replace(/^./, (first) => (first === "A" ? "B" : "A")),
      ),
      lora.link.replace(mac, ""),
      lora.link.replace(expires, "zzzzzzzz"),
      lora.link.replace(expires, `0${expires}`),
      new URL(over).pathname,
      new URL(gone).pathname,
    ]) {
      const { text, headers } = await ask([404, "NotFound"], "GET", wrong, {});
      answers.add(text.replaceAll(headers["x-request-id"] ?? "", ""));
    }
    expect(answers.size).toBe(1);
  });

  test("422 for an unbound key that names no project, 403 for an environment that is not the key's", async () => {
    await post([422, "PROJECT_REQUIRED"], UPLOAD, uploadOf(), unbound());
    const staging = uploadOf(undefined, { environment: "staging" });
    await post([403, "AuthorizationFailed"], UPLOAD, staging);
    const target = { adapterId: lora.adapterId };
    for (const [method, path, body] of [
      ["POST", ADAPTERS, newAdapter()],
      ["GET", ADAPTERS, undefined],
      ["POST", `${ADAPTERS}/suggestions`, { query: "hero" }],
      ["POST", `${ADAPTERS}/suggestions/accept`, { query: "hero" }],
      ["POST", ALIASES, { alias: "x", target }],
      ["GET", ALIASES, undefined],
      ["GET", `${ALIASES}/hero`, undefined],
      ["GET", `${ALIASES}/hero/versions`, undefined],
      ["POST", `${ALIASES}/hero/promotions`, { target }],
      ["POST", `${ALIASES}/hero/recipe-binding`, {}],
      ["GET", DEFAULT, undefined],
      ["PUT", DEFAULT, { alias: "hero" }],
      ["DELETE", DEFAULT, undefined],
    ] as const) {
      await ask([422, "PROJECT_REQUIRED"], method, path, { ...unbound(), body });
      const isCreation = method === "POST" && (path === ADAPTERS || path === ALIASES);
      const elsewhere = isCreation
        ? { key: tenant.key, body: { ...body, environment: "production" } }
        : { key: tenant.key, body };
      const named = isCreation ? path : `${path}?environment=production`;
      await ask([403, "AuthorizationFailed"], method, named, elsewhere);
    }
  });
});

describe("comparisons", () => {
  const { competitors, input } = COMPARED;
  const [first, second] = competitors;
  const create = (wanted: Wanted, more: object = {}, options: Call = {}) =>
    post(wanted, COMPARISONS, { ...COMPARED, ...more }, options);
  const bodies = [
    { target: COMPARISONS, of: (more: object) => ({ ...COMPARED, ...more }) },
    { target: `${COMPARISONS}/estimate`, of: (more: object) => ({ competitors, input, ...more }) },
  ];

  for (const { target, of } of bodies) {
    test(`${target}: 422 at the competitor that cannot be`, async () => {
      for (const [more, loc] of [
        [{ competitors: [first] }, ["competitors"]],
        [{ competitors: pinnedTo("1", "2", "slow", "busy", "fail") }, ["competitors"]],
        [{ competitors: [first, { axis: "vendor" }] }, ["competitors", 1, "axis"]],
        [{ competitors: [first, { axis: "provider", providerPin: " " }] }, ["competitors", 1, "providerPin"]],
        [
          { competitors: [first, { axis: "provider", providerPin: "sandbox-image" }] },
          ["competitors", 1, "providerPin"],
        ],
        [
          { competitors: [first, { axis: "provider", providerPin: "nobody" }] },
          ["competitors", 1, "providerPin"],
        ],
        [
          { competitors: [first, { axis: "profile", profileKey: "quick" }] },
          ["competitors", 1, "profileKey"],
        ],
        [
          { competitors: [first, { axis: "profile", profileKey: "reasoning-deep", profileVersion: "0" }] },
          ["competitors", 1, "profileVersion"],
        ],
        [{ competitors: [second, first, second] }, ["competitors", 2]],
        [{ input: {} }, ["competitors", 0, "input", "messages"]],
        [
          { competitors: [first, { axis: "recipe", inputOverrides: { messages: "none" } }] },
          ["competitors", 1, "inputOverrides", "messages"],
        ],
        [{ input: { ...input, maxOutputTokens: 0 } }, ["competitors", 0, "input", "maxOutputTokens"]],
      ] as const) {
        const { json } = await post([422, "list"], target, of(more));
        expect(json.detail[0].loc, JSON.stringify(more)).toEqual(["body", ...loc]);
      }
    });

    test(`${target}: refusals of a plan name the competitor`, async () => {
      const refuse = async (wanted: Wanted, more: object) =>
        (await post(wanted, target, of(more))).json.detail;
      const recipe = (inputOverrides: object) => ({
        competitors: [first, { axis: "recipe", inputOverrides }],
      });
      const unknown = await refuse([422, "UNKNOWN_INPUT_FIELD"], recipe({ temprature: 1 }));
      expect(unknown.details).toMatchObject({ fields: ["input.temprature"], competitor: 1 });
      const long = [{ role: "user", content: "x".repeat(1_000_000) }];
      expect(await refuse([422, "PromptTooLong"], recipe({ messages: long }))).toMatchObject({
        competitor: 1,
      });
      const gone = await refuse([409, "ROUTE_UNAVAILABLE"], { competitors: [first, ...pinnedTo("gone")] });
      expect(gone.details).toMatchObject({ field: "competitors.1.providerPin", competitor: 1 });
      const openai = { axis: "provider", providerPin: "openai-text" };
      const unconnected = await refuse([409, "CONNECTION_REQUIRED"], { competitors: [first, openai] });
      expect(unconnected.details).toMatchObject({ provider: "openai", competitor: 1 });
      const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
      const { maturity } = sandbox;
      sandbox.maturity = "PG";
      try {
        await settings(tenant.projectId, { maturityRating: "R" });
        expect((await refuse([400, "PolicyRejected"], {})).details).toMatchObject({ competitor: 0 });
      } finally {
        sandbox.maturity = maturity;
        await settings(tenant.projectId, {});
      }
    });

    test(`${target}: 400 where nothing runs durably, 404 for no capability, 422 and 403 for a project`, async () => {
      const elsewhere = (key: string) => target.replace(TEXT, key);
      const { json } = await post([400, "USE_INVOKE"], elsewhere(MATH), of({ input: { expression: "1" } }));
      expect(json.detail.details).toEqual({ invoke: at(MATH, "invoke") });
      await post([404, "UNKNOWN_CAPABILITY"], elsewhere("text.nothing.v1"), of({}));
      await post([422, "PROJECT_REQUIRED"], target, of({}), { key: tenant.unboundKey });
    });
  }

  test("create: 422 for what no comparison is, with the field; 403 for a project or an environment", async () => {
    for (const [more, field] of [
      [{ context: undefined }, "context"],
      [{ intent: "for fun" }, "intent"],
      [{ workloadTags: [] }, "workloadTags"],
      [{ workloadTags: { a: "x".repeat(20_000) } }, "workloadTags"],
      [{ idempotencyKey: "" }, "idempotencyKey"],
      [{ more: 1 }, "more"],
      [{ execution: {} }, "execution"],
    ] as const) {
      const { json } = await create([422, "list"], more);
      expect(json.detail[0].loc.slice(0, 2), JSON.stringify(more)).toEqual(["body", field]);
    }
    for (const context of [{ projectId: tenant.otherProjectId }, { environment: "production" }])
      await create([403, "AuthorizationFailed"], { context });
  });

  test("create: 409 for another comparison under the same key, 200 for the same, here or in the header", async () => {
    const { json } = await create(200, { idempotencyKey: "sea" });
    expect((await create(200, { idempotencyKey: "sea" })).json).toEqual(json);
    const named = { headers: { "idempotency-key": "sea" } };
    expect((await create(200, {}, named)).json).toEqual(json);
    const other = { idempotencyKey: "sea", intent: "golden_regression" };
    const refused = await create([409, "IdempotencyConflict"], other);
    expect(refused.json.detail.details).toEqual({ jobId: json.comparisonId });
    await create([422, "list"], { idempotencyKey: "lake" }, named);
  });

  test("create: 402 without funds, and where a budget has room for one alone; nothing is written then", async () => {
    const poor = await makeTenant({ walletMicros: 0 });
    await create([402, "funding_required"], {}, { key: poor.key });
    const { key, projectId } = await makeTenant();
    const limits = { period: "total", ceilingMicros: 6_000, enforcement: "prevent" } as const;
    await budgets.set(systemCtx("test"), { owner: { projectId }, ...limits });
    await create([402, "BudgetExceeded"], {}, { key });
    expect((await get(200, "/v1/jobs", { key })).json.items).toEqual([]);
    const { competitors } = (await post(200, `${COMPARISONS}/estimate`, bodies[1]?.of({}), { key })).json;
    for (const { maximumCostMicros } of competitors) expect(maximumCostMicros).toBeGreaterThan(5_000);
  });

  test("options: who could compete, and how; 404 for no capability, 422 without a project", async () => {
    const target = `${COMPARISONS}/competitor-options`;
    const { json } = await get(200, target);
    expect(json).toMatchObject({
      axes: ["provider", "recipe", "profile"],
      defaultCompetitors: [{ axis: "provider", providerPin: "sandbox-text" }],
      recipes: { supported: true, inputFields: expect.arrayContaining(["messages", "maxOutputTokens"]) },
    });
    const local = (await get(200, target.replace(TEXT, MATH))).json;
    expect(local).toMatchObject({ axes: [], providers: [], recipes: { supported: false } });
    await get([404, "UNKNOWN_CAPABILITY"], target.replace(TEXT, "text.nothing.v1"));
    await get([422, "PROJECT_REQUIRED"], target, { key: tenant.unboundKey });
    await get([403, "AuthorizationFailed"], `${target}?projectId=${tenant.otherProjectId}`);
  });

  test("judge: 409 while it runs and once it was judged otherwise, 422 for who cannot win, 404 for none", async () => {
    const { json: running } = await create(200);
    const of = (id: string) => `/v1/comparisons/${id}/judgements`;
    const none = { decision: "none" };
    const refused = await post([409, "JobNotFinished"], of(running.comparisonId), none);
    expect(refused.json.detail.details).toEqual({ status: "running" });
    const done = await compared(tenant, false);
    for (const [body, field] of [
      [{ decision: "draw" }, "decision"],
      [{ decision: "winner" }, "overallWinnerEntryId"],
      [{ decision: "winner", overallWinnerEntryId: newId("comparisonEntry") }, "overallWinnerEntryId"],
      [{ decision: "winner", overallWinnerEntryId: judged.entryIds[0] }, "overallWinnerEntryId"],
      [{ ...done.winner, valueWinnerEntryId: judged.entryIds[0] }, "valueWinnerEntryId"],
      [{ decision: "tie", overallWinnerEntryId: done.entryIds[0] }, "overallWinnerEntryId"],
      [{ decision: "none", valueWinnerEntryId: done.entryIds[0] }, "valueWinnerEntryId"],
      [{ decision: "tie", more: 1 }, "more"],
    ] as const) {
      const { json } = await post([422, "list"], of(done.comparisonId), body);
      expect(json.detail[0].loc, JSON.stringify(body)).toEqual(["body", field]);
    }
    const first = await post(200, of(done.comparisonId), done.winner);
    expect(first.json).toMatchObject({ nextAction: "stop", judgement: { decision: "winner" } });
    const again = { ...done.winner, valueWinnerEntryId: done.winner.overallWinnerEntryId };
    expect((await post(200, of(done.comparisonId), again)).json).toEqual(first.json);
    const other = await post([409, "ComparisonJudged"], of(done.comparisonId), none);
    expect(other.json.detail.details).toEqual({ comparisonId: done.comparisonId, decision: "winner" });
    const absent = newId("comparison");
    await post([404, "NotFound"], of(absent), none);
    await get([404, "NotFound"], `/v1/comparisons/${absent}`);
  });
});

describe("request ids", () => {
  test("a sane id of the caller is kept, any other replaced", async () => {
    const own = await get(200, "/v1/jobs", { headers: { "x-request-id": "mine-1" } });
    expect(own.headers["x-request-id"]).toBe("mine-1");
    const hostile = await get(200, "/v1/jobs", { headers: { "x-request-id": "a b\r\nset-cookie: x" } });
    expect(hostile.headers["x-request-id"]).toMatch(/^req_/);
  });

  test("410 for what was retired, with what took its place", async () => {
    for (const [method, path, replacement] of [
      ["POST", "/v1/jobs", "POST /v1/capabilities/{capability_key}/jobs"],
      ["POST", "/v1/invocations", "POST /v1/capabilities/{capability_key}/invoke"],
      ["GET", "/v1/invocations/inv_1", "GET /v1/jobs/{job_id}"],
      ["GET", "/v1/invocations/inv_1/receipt", "GET /v1/jobs/{job_id}/receipt"],
      ["POST", "/v1/invocations/inv_1/cancel", "POST /v1/jobs/{job_id}/cancel"],
    ] as const) {
      const body = method === "POST" ? { body: {} } : {};
      const { json } = await ask([410, "Gone"], method, path, { key: tenant.key, ...body });
      expect(json.detail).toEqual({
        code: "Gone",
        message: expect.stringContaining(replacement),
        details: { replacement },
      });
      await ask([401, "AuthenticationFailed"], method, path, { key: "cap_development_nothing", ...body });
    }
    await get(200, "/v1/jobs");
  });

  test("no path and no method beside the known ones", async () => {
    await get([404, "NotFound"], "/v1/nothing");
    const refused = await ask([405, "MethodNotAllowed"], "DELETE", "/v1/jobs", { key: tenant.key });
    expect(refused.headers.allow).toBe("GET, HEAD, OPTIONS");
  });
});

describe("keys, session and references", () => {
  test("the key set is public, may be kept for a minute, and is not sent again to who has it", async () => {
    const { json, headers } = await ask(200, "GET", "/.well-known/jwks.json");
    expect(json.keys[0]).toMatchObject({ kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA" });
    expect(Object.keys(json.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
    expect(headers["cache-control"]).toBe("public, max-age=60");
    expect(headers["access-control-allow-origin"]).toBe("*");
    await ask(304, "GET", "/.well-known/jwks.json", { headers: { "if-none-match": headers.etag ?? "" } });
  });

  test("diagnostics tell a key what it is, whom it reaches and whether it could work", async () => {
    const { json: session } = await get(200, "/v1/diagnostics/session");
    expect(session).toMatchObject({
      authenticated: true,
      organizationId: tenant.organizationId,
      tokenProjectId: tenant.projectId,
      principalProjectId: tenant.projectId,
    });
    const { json: reached } = await get(200, "/v1/diagnostics/providers");
    expect(reached).toMatchObject({ projectId: tenant.projectId, imageGenerationReady: true });
    const target = "/v1/diagnostics/readiness";
    const { json } = await get(200, `${target}?capabilities=image.generate.v1&capabilities=image.paint.v1`);
    expect(json).toMatchObject({
      ready: false,
      capabilities: [
        { capabilityKey: "image.generate.v1", known: true, ready: true },
        { capabilityKey: "image.paint.v1", known: false, ready: false, accessDecision: null },
      ],
    });
    expect(json.capabilities[1].nearestMatches.length).toBeGreaterThan(0);
    for (const of of ["/v1/diagnostics/session", "/v1/diagnostics/providers", target])
      await ask([401, "AuthenticationFailed"], "GET", of);
    for (const of of ["/v1/diagnostics/providers", target]) {
      await get([403, "AuthorizationFailed"], `${of}?projectId=${tenant.otherProjectId}`);
      await get([422, "list"], `${of}?environment=NOT%20ONE`);
    }
    await get([422, "list"], `${target}?capabilities=`);
  });

  test("the context for agents is everybody's, by profile, and is not sent again to who has it", async () => {
    const { json, headers } = await ask(200, "GET", "/v1/agent-context?profile=compact");
    expect(json).toMatchObject({ version: "service-public-1", profile: "compact" });
    const { text } = await ask(304, "GET", "/v1/agent-context?profile=compact", {
      headers: { "if-none-match": headers.etag ?? "" },
    });
    expect(text).toBe("");
    await ask([422, "list"], "GET", "/v1/agent-context?profile=long");
  });

  test("the session says who asks and where it works; 422 and 403 for a project it cannot name", async () => {
    const { json } = await get(200, "/v1/session/context");
    expect(json).toEqual({
      needsOnboarding: false,
      organization: { id: tenant.organizationId, displayName: "Tenant" },
      project: { id: tenant.projectId, displayName: "One", slug: "one" },
      environment: { id: expect.stringMatching(/^env_/), slug: "development", displayName: "Development" },
      productId: null,
      identity: {
        provider: "api_key",
        account: expect.stringMatching(/^cap_development_.{6}$/),
        displayName: "test",
        authenticated: true,
      },
    });
    const unbound = { key: tenant.unboundKey };
    const other = `/v1/session/context?projectId=${tenant.otherProjectId}`;
    expect((await get(200, other, unbound)).json.project.displayName).toBe("Two");
    await get([403, "AuthorizationFailed"], other);
    await get([403, "AuthorizationFailed"], `/v1/session/context?projectId=${newId("project")}`, unbound);
    await get([422, "list"], "/v1/session/context?projectId=");
  });

  test("a signed-in person's session names the person; without a project it needs onboarding", async () => {
    const { organizationId } = await makeTenant();
    const cookie = await sessionOf(organizationId);
    const { json } = await ask(200, "GET", "/v1/session/context", { headers: { cookie } });
    expect(json).toMatchObject({
      needsOnboarding: false,
      organization: { id: organizationId },
      project: { displayName: "One" },
      environment: { slug: "development" },
      identity: { provider: "browser", account: expect.stringMatching(/@capstan\.test$/) },
    });
    const empty = await organizations.createOrganization(systemCtx("test"), { name: "Empty" });
    const alone = await sessionOf(empty.organizationId);
    const fresh = await ask(200, "GET", "/v1/session/context", { headers: { cookie: alone } });
    expect(fresh.json).toMatchObject({
      needsOnboarding: true,
      organization: { displayName: "Empty" },
      project: null,
      environment: null,
    });
  });

  test("references refuse values that no page has, and projects that are not the key's", async () => {
    const target = `/v1/projects/${tenant.projectId}/references`;
    for (const query of ["limit=0", "limit=201", "cursor=x"]) {
      const { json } = await get([422, "list"], `${target}?${query}`);
      expect(json.detail[0].loc).toEqual(["query", query.split("=")[0]]);
    }
    await get([404, "NotFound"], `/v1/projects/${newId("project")}/references`);
  });
});

describe("discovery", () => {
  test("the catalog answers q and view, and refuses what they cannot be", async () => {
    const { json } = await get(200, "/v1/capabilities?view=summary&q=draw%20a%20picture");
    expect(json.capabilities[0]).toMatchObject({ key: IMAGE });
    await get([422, "list"], "/v1/capabilities?q=a&q=b");
    await get([422, "list"], `/v1/capabilities?q=${"x".repeat(501)}`);
    expect((await get(200, "/v1/capabilities")).json.capabilities[0]).toHaveProperty("uiSchema");
    expect((await ask(200, "GET", "/v1/capabilities")).json.capabilities[0]).not.toHaveProperty("uiSchema");
  });

  test("an intent is resolved for anybody, and the request is closed", async () => {
    const target = "/v1/capabilities/resolve";
    const body = { intent: "draw a picture", requirements: { runnableNow: true } };
    for (const key of [undefined, tenant.key]) {
      const { json } = await ask(200, "POST", target, { key, body });
      expect(json.matches[0]).toMatchObject({ capabilityKey: IMAGE });
    }
    const closed = await ask([422, "list"], "POST", target, { body: { ...body, budget: 1 } });
    expect(closed.json.detail[0].loc).toEqual(["body", "budget"]);
    const unknown = { intent: "x", requirements: { cheap: true } };
    const refused = await ask([422, "list"], "POST", target, { body: unknown });
    expect(refused.json.detail[0].loc).toEqual(["body", "requirements", "cheap"]);
  });

  for (const [method, what] of [
    ["GET", ""],
    ["GET", "/execution-targets"],
    ["GET", "/benchmarks"],
    ["POST", "/quote"],
    ["POST", "/estimate"],
    ["POST", "/invoke"],
    ["POST", "/jobs"],
  ] as const) {
    test(`${method} /v1/capabilities/{capability_key}${what}: 404 names the nearest keys`, async () => {
      const body = method === "POST" ? { body: { input } } : {};
      const refused = await ask(
        [404, "UNKNOWN_CAPABILITY"],
        method,
        `/v1/capabilities/image.generat.v1${what}`,
        {
          key: tenant.key,
          ...body,
        },
      );
      expect(refused.json.detail.details.nearestMatches[0]).toBe(IMAGE);
    });
  }

  test("304 to whoever has the catalog's answer already", async () => {
    for (const path of ["", `/${TEXT}`, `/${TEXT}/execution-targets`, `/${TEXT}/benchmarks`]) {
      const { headers } = await get(200, `/v1/capabilities${path}`);
      await get(304, `/v1/capabilities${path}`, { headers: { "if-none-match": headers.etag ?? "" } });
    }
  });

  test("invoke_stream is published and accepted where text can be streamed, and nowhere else", async () => {
    const { json } = await get(200, `/v1/capabilities/${TEXT}`);
    expect(json.executionModes).toEqual(["invoke_sync", "invoke_stream", "job_async"]);
    const { json: running } = await post(200, at(TEXT, "invoke"), { input, executionMode: "Stream" });
    expect(running).toMatchObject({ status: "running", dispatchStatus: "streaming", receiptId: null });
    await get(200, `/v1/executions/${running.executionId}/events`);
    const math = await get(200, `/v1/capabilities/${MATH}`);
    expect(math.json.executionModes).not.toContain("invoke_stream");
    const refused = await post([422, "list"], at(MATH, "invoke"), {
      input: { expression: "1" },
      executionMode: "Stream",
    });
    expect(refused.json.detail[0]).toMatchObject({ loc: ["body", "executionMode"], type: "unsupported" });
  });
});

const PLANNING = ["quote", "estimate", "invoke", "jobs"];

for (const what of PLANNING) {
  describe(`POST /v1/capabilities/{capability_key}/${what} refuses`, () => {
    const target = at(TEXT, what);

    test("422: fields of the input that are missing, wrong or unknown, each by its place", async () => {
      const wrong = await post([422, "list"], target, {
        input: { messages: [{ role: "boss" }, { role: "user", content: 1 }], maxOutputTokens: 0 },
      });
      const issues = Object.fromEntries(
        wrong.json.detail.map((issue: { loc: string[]; type: string }) => [issue.loc.join("."), issue.type]),
      );
      expect(issues).toEqual({
        "body.input.messages.0.role": "enum",
        "body.input.messages.0.content": "missing",
        "body.input.messages.1.content": "string_type",
        "body.input.maxOutputTokens": "greater_than_equal",
      });
      const unknown = await post([422, "UNKNOWN_INPUT_FIELD"], target, {
        input: { ...input, temprature: 1 },
      });
      expect(unknown.json.detail.details).toEqual({
        fields: ["input.temprature"],
        allowed: ["messages", "maxOutputTokens", "responseFormat", "responseSchema"],
      });
    });

    test("422: an envelope field nobody knows, with path, guess and what is supported beside the code", async () => {
      const refused = await post([422, "UNKNOWN_EXECUTION_FIELD"], target, { input, preferedModel: "x" });
      expect(refused.json.detail).toEqual({
        code: "UNKNOWN_EXECUTION_FIELD",
        message: expect.any(String),
        path: "preferedModel",
        didYouMean: "preferredModel",
        supported: expect.arrayContaining([
          "preferredModel",
          "providerPin",
          "autoSelect",
          "maxCostUsd",
          "budgetEnforcement",
        ]),
        retryable: false,
      });
    });

    test("422: one constraint at two places with two values", async () => {
      const refused = await post([422, "CONFLICTING_EXECUTION_CONSTRAINT"], target, {
        input,
        preferredModel: "sandbox-1",
        execution: { executionConstraints: { preferredModel: "sandbox-2" } },
      });
      expect(refused.json.detail.details).toEqual({
        field: "preferredModel",
        values: ["sandbox-1", "sandbox-2"],
      });
    });

    test("422: a prompt that cannot fit, in tokens, and never trims it", async () => {
      const refused = await post([422, "PromptTooLong"], target, {
        input: {
          messages: [
            { role: "system", content: "Short." },
            { role: "user", content: "x".repeat(1_000_000) },
          ],
        },
      });
      expect(refused.json.detail).toEqual({
        code: "PromptTooLong",
        message: expect.any(String),
        field: "input.messages[1].content",
        measurement: "tokens",
        overflow: "reject",
        actualTokens: expect.any(Number),
        maxTokens: 128_000,
        capabilityKey: TEXT,
        provider: "sandbox",
        modelId: "sandbox-1",
        retryable: false,
      });
      expect(refused.json.detail.actualTokens).toBeGreaterThan(128_000);
    });

    test("422: an unbound key that names no project", async () => {
      await ask([422, "PROJECT_REQUIRED"], "POST", target, { key: tenant.unboundKey, body: { input } });
    });

    test("403: a project or an environment that is not allowed; somebody else's and none at all alike", async () => {
      const stranger = await makeTenant();
      const answers = [];
      for (const projectId of [stranger.projectId, newId("project"), "nonsense", tenant.otherProjectId]) {
        const { text } = await post([403, "AuthorizationFailed"], target, { input, context: { projectId } });
        answers.push(text);
      }
      expect(new Set(answers).size).toBe(1);
      await post([403, "AuthorizationFailed"], target, { input, context: { environment: "production" } });
    });

    // Looking needs no funds.
    if (!/quote$|estimate$/.test(target))
      test("402: an organization without funds, with the ways to pay", async () => {
        const poor = await makeTenant({ walletMicros: 0 });
        const { json } = await ask([402, "funding_required"], "POST", target, {
          key: poor.key,
          body: { input },
        });
        expect(json.detail.details).toMatchObject({
          fundingOptions: ["managed", "byok"],
          legacyCode: "billing_managed_usage_exhausted",
          upgradeUrl: expect.stringMatching(/billing$/),
        });
      });

    test("402: a ceiling of the call below its estimate, with its figures and the field", async () => {
      const refused = await post([402, "BudgetExceeded"], target, { input, maxCostUsd: 0.000001 });
      expect(refused.json.detail.details).toEqual({
        scope: "call",
        enforcement: "prevent",
        estimatedCost: expect.any(Number),
        available: 0.000001,
        ceiling: 0.000001,
        field: "execution.executionConstraints.maxCostUsd",
      });
      expect(refused.json.detail.details.estimatedCost).toBeGreaterThan(0.000001);
    });

    test("400: content no provider here may be asked for", async () => {
      const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
      const body = { input, maturityRating: "NC17" };
      const maturity = sandbox.maturity;
      sandbox.maturity = "PG";
      try {
        const isQuote = what === "quote" || what === "estimate";
        if (isQuote) await settings(tenant.projectId, { maturityRating: "R" });
        const { json } = await post([400, "PolicyRejected"], target, isQuote ? { input } : body);
        expect(json.detail.details).toMatchObject({ field: "maturityRating", highest: "PG" });
      } finally {
        sandbox.maturity = maturity;
        await settings(tenant.projectId, {});
      }
    });

    test("409: no such model, with what could be taken; an account that is not connected, with where to", async () => {
      const gone = await post([409, "ROUTE_UNAVAILABLE"], target, { input, preferredModel: "gone-1" });
      expect(gone.json.detail.details.alternates).toContain("sandbox/sandbox-1");
      const body = { input, preferredModel: "gpt-4.1-mini" };
      const unconnected = await post([409, "CONNECTION_REQUIRED"], target, body);
      expect(unconnected.json.detail.details).toEqual({
        connectUrl: expect.stringMatching(new RegExp(`^http.*/projects/${tenant.projectId}/connections`)),
        provider: "openai",
      });
    });
  });
}

describe("POST /v1/capabilities/image.generate.v1/plan", () => {
  test("400: a picture no provider here may be asked for", async () => {
    const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
    const maturity = sandbox.maturity;
    sandbox.maturity = "PG";
    try {
      const body = { input: { prompt: "A kite" }, maturityRating: "NC17" };
      const { json } = await post([400, "PolicyRejected"], at(IMAGE, "plan"), body);
      expect(json.detail.details).toMatchObject({ field: "maturityRating", highest: "PG" });
    } finally {
      sandbox.maturity = maturity;
    }
  });

  const sheet = { rows: 2, columns: 3, slice: true, labels: ["sword", "ein Schild", "sword"] };
  const normalize = { width: 300, height: 512 };

  test("answers the canvas, each cell with its place, label and file name, the route and the price", async () => {
    const before = await pool.query("SELECT count(*) FROM job WHERE project_id = $1", [tenant.projectId]);
    const { json } = await post(200, at(IMAGE, "plan"), {
      input: {
        prompt: "Things to carry",
        requestTransparentOutput: true,
        keyColor: "#00ff00",
        sheet: { ...sheet, normalize },
      },
      execution: { billingMode: "managed" },
    });
    expect(json).toMatchObject({
      capabilityKey: IMAGE,
      canvas: { width: 912, height: 1024 },
      providerCalls: 1,
      images: 1,
      transparency: {
        method: "matte-v9",
        keyColor: "#00ff00",
        transparentRegions: "borderConnected",
      },
      sheet: { rows: 2, columns: 3, slice: true, cellSize: normalize, center: true },
      artifacts: { count: 7, kinds: ["composite-sheet", "sheet-cell"] },
      route: { key: "sandbox/sandbox-1" },
      billingMode: "managed",
      estimate: { chargeBasis: { amountMicros: 40_000 }, expectedCharge: { amountMicros: 42_400 } },
      spending: "none",
    });
    type Cell = { sliceCellId: string; label: string | null; filename: string; rectangle: object };
    expect(json.sheet.cells.map((cell: Cell) => [cell.sliceCellId, cell.label, cell.filename])).toEqual([
      ["r1c1", "sword", "sword.png"],
      ["r1c2", "ein Schild", "ein-Schild.png"],
      ["r1c3", "sword", "sword-r1c3.png"],
      ["r2c1", null, "r2c1.png"],
      ["r2c2", null, "r2c2.png"],
      ["r2c3", null, "r2c3.png"],
    ]);
    expect(json.sheet.cells.at(-1)).toMatchObject({
      rectangle: { x: 608, y: 512, width: 304, height: 512 },
      output: normalize,
    });
    expect(JSON.stringify(json.addedToPrompt)).not.toMatch(/sword|Schild/);
    const after = await pool.query("SELECT count(*) FROM job WHERE project_id = $1", [tenant.projectId]);
    expect(after.rows).toEqual(before.rows);
  });

  const refusals: [Wanted, Record<string, unknown>][] = [
    [[422, "list"], { input: { prompt: "" } }],
    [[422, "list"], { input: { prompt: "x", sheet, variantCount: 2 } }],
    [[422, "UNKNOWN_INPUT_FIELD"], { input: { prompt: "x", adapter: [] } }],
    [[422, "list"], { input: { prompt: "x", adapters: [{ alias: "nobody" }] } }],
    [[422, "UNKNOWN_EXECUTION_FIELD"], { input: { prompt: "x" }, preferedModel: "x" }],
    [
      [422, "CONFLICTING_EXECUTION_CONSTRAINT"],
      {
        input: { prompt: "x" },
        preferredModel: "sandbox-1",
        execution: { executionConstraints: { preferredModel: "sandbox-2" } },
      },
    ],
    [[422, "PromptTooLong"], { input: { prompt: "x".repeat(32_001) } }],
    [[422, "PromptTooLong"], { input: { prompt: "x".repeat(31_990), sheet } }],
    [[402, "BudgetExceeded"], { input: { prompt: "x" }, maxCostUsd: 0.000001 }],
    [[409, "ROUTE_UNAVAILABLE"], { input: { prompt: "x" }, preferredModel: "gone-1" }],
    [[409, "CONNECTION_REQUIRED"], { input: { prompt: "x" }, preferredModel: "gpt-image-2" }],
    [[409, "QUOTE_MISMATCH"], { input: { prompt: "x" }, quoteId: newId("quote") }],
    [
      [409, "ESTIMATE_MISMATCH"],
      { input: { prompt: "x" }, execution: { quoteId: newId("quote"), estimateId: newId("quote") } },
    ],
    [[403, "AuthorizationFailed"], { input: { prompt: "x" }, context: { projectId: newId("project") } }],
  ];

  test.each(refusals)("refuses as jobs does: %j", async (wanted, body) => {
    const [planned, submitted] = [
      await post(wanted, at(IMAGE, "plan"), body),
      await post(wanted, at(IMAGE, "jobs"), body),
    ];
    expect(planned.json.detail).toEqual(submitted.json.detail);
  });

  test("422: an unbound key that names no project", async () => {
    const body = { input: { prompt: "x" } };
    await ask([422, "PROJECT_REQUIRED"], "POST", at(IMAGE, "plan"), { key: tenant.unboundKey, body });
  });
});

test("422: a prompt counted in characters", async () => {
  for (const what of ["quote", "estimate", "jobs"]) {
    const fits = await post(200, at(IMAGE, "quote"), { prompt: "😀".repeat(32_000) });
    expect(fits.json.status).toBe("ok");
    const refused = await post([422, "PromptTooLong"], at(IMAGE, what), { prompt: "x".repeat(32_001) });
    expect(refused.json.detail).toMatchObject({
      field: "input.prompt",
      measurement: "characters",
      overflow: "reject",
      actualCharacters: 32_001,
      maxCharacters: 32_000,
      retryable: false,
    });
  }
});

describe("quotes", () => {
  test("quote and estimate answer alike", async () => {
    const [one, other] = [
      await post(200, at(TEXT, "quote"), { input }),
      await post(200, at(TEXT, "estimate"), { input }),
    ];
    expect(one.json.pricingInputFingerprint).toBe(other.json.pricingInputFingerprint);
    expect(one.json).toMatchObject({
      status: "ok",
      spending: "none",
      pricing: { quote: { qualifier: "upper_bound" } },
    });
    expect(one.json.quoteId).not.toBe(other.json.quoteId);
  });

  test("an unbound key names its project in the body or in the query", async () => {
    const key = tenant.unboundKey;
    const { projectId } = tenant;
    await ask(200, "POST", `${at(IMAGE, "quote")}?projectId=${projectId}`, { key, body: { prompt: "x" } });
    await ask(200, "POST", at(IMAGE, "quote"), {
      key,
      body: { input: { prompt: "x" }, context: { projectId } },
    });
  });

  test("a request without what prices it is told what is missing", async () => {
    const { json } = await post(200, at(IMAGE, "quote"), {});
    expect(json).toMatchObject({
      status: "pricing_inputs_required",
      missing: ["/input/prompt"],
      quoteId: null,
    });
  });

  /** A copy of a quote with these changes, which expires after this long. */
  const altered = async (quoteId: string, body: object, interval = "1 minute") => {
    const id = newId("quote");
    await pool.query(
      `INSERT INTO retail_quote (id, project_id, principal_id, hash, body, created_at, expires_at)
       SELECT $2, project_id, principal_id, hash, body || $3::jsonb, created_at, now() + $4::interval FROM retail_quote WHERE id = $1`,
      [quoteId, id, JSON.stringify(body), interval],
    );
    return id;
  };

  test("409: a quote by an older price list has to be made again", async () => {
    for (const [key, what, body] of [
      [TEXT, "jobs", { input }],
      [TEXT, "invoke", { input }],
      [IMAGE, "plan", { input: { prompt: "x" } }],
    ] as const) {
      const { quoteId } = (await post(200, at(key, "quote"), body)).json;
      const older = await altered(quoteId, { pricingVersion: "price_2026_07_1" });
      const refused = await post([409, "REESTIMATE_REQUIRED"], at(key, what), { ...body, quoteId: older });
      expect(refused.json.detail.details).toMatchObject({
        reason: "pricing_version",
        quotedPricingVersion: "price_2026_07_1",
      });
    }
  });

  test("409: two ids of quotes that disagree", async () => {
    const execution = { quoteId: newId("quote"), estimateId: newId("quote") };
    for (const what of ["quote", "estimate", "jobs", "invoke"])
      await post([409, "ESTIMATE_MISMATCH"], at(TEXT, what), { input, execution });
  });

  for (const what of ["jobs", "invoke"]) {
    test(`409 on ${what}: a quote that does not hold, with the reason`, async () => {
      const { quoteId } = (await post(200, at(TEXT, "quote"), { input })).json;
      const reason = async (body: Record<string, unknown>) =>
        (await post([409, "QUOTE_MISMATCH"], at(TEXT, what), body)).json.detail.details.reason;
      expect(await reason({ ...say("Another question."), quoteId })).toBe("changed");
      expect(await reason({ input, quoteId: newId("quote") })).toBe("unknown");
      expect(await reason({ input, estimateId: `cq_${ulid()}` })).toBe("commission_quote");
      const expired = await altered(quoteId, {}, "-1 second");
      expect(await reason({ input, quoteId: expired })).toBe("expired");
    });
  }
});

describe("submit", () => {
  test("a job is admitted with everything the caller gave echoed, and how to follow it", async () => {
    const { json, headers } = await post(200, at(IMAGE, "jobs"), {
      input: { prompt: "A kite", variantCount: 2 },
      context: { productId: "shop" },
      externalRef: "order-1",
      tags: ["a"],
      metadata: { b: [1] },
      correlationId: "c",
      taskKind: "cover",
      idempotencyKey: "echo",
    });
    expect(headers["x-execution-id"]).toBe(json.jobId);
    expect(json).toMatchObject({
      status: "queued",
      capability: IMAGE,
      capabilityKey: IMAGE,
      projectId: tenant.projectId,
      productId: "shop",
      environment: "development",
      externalRef: "order-1",
      tags: ["a"],
      metadata: { b: [1] },
      correlationId: "c",
      taskKind: "cover",
      idempotencyKey: "echo",
      startedAt: null,
      completedAt: null,
      pricing: null,
      receiptId: null,
      artifacts: [],
      error: null,
      nextAction: "poll",
      pollAfterSeconds: 1,
      retry: { sameKey: true, newKeySafe: false },
      variantSet: { requestedCount: 2, completedCount: 0, failedCount: 0, selectedArtifactId: null },
      requestSnapshot: { capability: IMAGE, input: { prompt: "A kite", variantCount: 2 }, productId: "shop" },
    });
    expect((await get(200, `/v1/jobs/${json.jobId}`)).json).toEqual(json);
  });

  test("the same key and request answer with the first job; another request is 409 and names it twice", async () => {
    const body = { ...say("Once."), idempotencyKey: "one" };
    const first = await post(200, at(TEXT, "jobs"), body);
    expect((await post(200, at(TEXT, "jobs"), body)).json.jobId).toBe(first.json.jobId);
    const inHeader = { headers: { "idempotency-key": "one" } };
    expect((await post(200, at(TEXT, "jobs"), say("Once."), inHeader)).json.jobId).toBe(first.json.jobId);
    const refused = await post([409, "IdempotencyConflict"], at(TEXT, "jobs"), {
      ...say("Twice."),
      idempotencyKey: "one",
    });
    const { jobId } = first.json;
    expect(refused.json).toMatchObject({
      code: "IdempotencyConflict",
      jobId,
      detail: { details: { jobId } },
    });
    const two = { headers: { "idempotency-key": "two" } };
    const torn = await post([422, "list"], at(TEXT, "jobs"), body, two);
    expect(torn.json.detail[0].loc).toEqual(["body", "idempotencyKey"]);
  });

  test("200 submits at once with one key make one job", async () => {
    const body = { ...say("All at once."), idempotencyKey: "all at once" };
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(200, at(TEXT, "jobs"), body)));
    const ids = new Set(answers.map(({ json }) => json.jobId));
    expect(ids.size).toBe(1);
    const { rows } = await pool.query("SELECT id FROM job WHERE project_id = $1 AND idempotency_key = $2", [
      tenant.projectId,
      body.idempotencyKey,
    ]);
    expect(rows.map(({ id }) => id)).toEqual([...ids]);
  });

  test("a field that is null is the same request as one that is not there", async () => {
    const idempotencyKey = "with nulls";
    const first = await post(200, at(TEXT, "jobs"), { input, idempotencyKey });
    const nulls = {
      externalRef: null,
      execution: { billingMode: null, quoteId: null, executionConstraints: { preferredModel: null } },
      sampling: null,
      pin: null,
    };
    const again = await post(200, at(TEXT, "jobs"), { input, idempotencyKey, ...nulls });
    expect(again.json.jobId).toBe(first.json.jobId);
  });

  test("400: a capability that only runs at once says where", async () => {
    const refused = await post([400, "USE_INVOKE"], at(MATH, "jobs"), { expression: "1" });
    expect(refused.json.details).toEqual({ invoke: `/v1/capabilities/${MATH}/invoke` });
  });

  test("a call may warn instead of refusing; the job says so", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), {
      input,
      execution: { executionConstraints: { maxCostUsd: 0.000001, budgetEnforcement: "warn" } },
    });
    expect(json.warnings).toEqual([
      expect.objectContaining({
        code: "BudgetExceeded",
        scope: "call",
        remaining: 0.000001,
        ceiling: 0.000001,
      }),
    ]);
    const { json: page } = await get(200, `/v1/jobs/${json.jobId}/events?type=job.budget_warning`);
    expect(page.events).toHaveLength(1);
    await post(200, at(TEXT, "jobs"), { input, maxCostUsd: 0.000001, budget: { enforcement: "off" } });
  });

  test("422: what is not there or not served, by its name", async () => {
    const missing = await post([422, "list"], at(TEXT, "jobs"), { input, inputPayloadRef: "pay_1" });
    expect(missing.json.detail[0]).toMatchObject({ loc: ["body", "inputPayloadRef"] });
    const readerDelivery = { boundary: "paragraph" };
    for (const [key, body] of [
      [TEXT, { input, responseSchema: { type: "object" } }],
      [TEXT, { input, toolSchemas: [{ name: "find" }] }],
      [JSON_TEXT, { input, responseSchema: { type: "object" } }],
      [IMAGE, { input: { prompt: "A kite" } }],
    ] as const) {
      const refused = await post([422, "list"], at(key, "jobs"), { ...body, readerDelivery });
      expect(refused.json.detail[0]).toMatchObject({ loc: ["body", "readerDelivery"] });
    }
    await post(200, at(TEXT, "jobs"), { input, readerDelivery });
    const { json } = await post([422, "list"], at(TEXT, "jobs"), { input, maxDurationSeconds: 601 });
    expect(json.detail[0]).toMatchObject({
      loc: ["body", "execution", "executionConstraints", "maxDurationSeconds"],
      type: "less_than_equal",
    });
  });

  test("429: a project with ten thousand unfinished jobs takes no more, except those it took before", async () => {
    const full = await makeTenant();
    const body = { ...say("First."), idempotencyKey: "first" };
    // Submitted a while ago: the count is remembered for a second.
    const earlier = systemCtx("test", () => new Date(Date.now() - 5_000));
    const first = await jobs.submit(earlier, TEXT, { ...body, context: { projectId: full.projectId } });
    await copyJob(first.jobId, 10_000, { dispatch_state: "'none'" });
    const options = { key: full.key };
    const refused = await post([429, "DURABLE_CONCURRENCY_LIMIT"], at(TEXT, "jobs"), say("More."), options);
    expect(refused.json.details).toEqual({ current: 10_001, limit: 10_000 });
    expect((await post(200, at(TEXT, "jobs"), body, options)).json.jobId).toBe(first.jobId);
    await post(200, `/v1/jobs/${first.jobId}/cancel`, undefined, options);
    await post([429, "DURABLE_CONCURRENCY_LIMIT"], `/v1/jobs/${first.jobId}/retry`, undefined, options);
    await post([429, "DURABLE_CONCURRENCY_LIMIT"], COMPARISONS, COMPARED, options);
    await pool.query("DELETE FROM job WHERE project_id = $1 AND id <> $2", [full.projectId, first.jobId]);
  });
});

describe("invoke", () => {
  test("the answer of text: output, usage, cost and the ids of its record", async () => {
    const { json, headers } = await post(200, at(TEXT, "invoke"), { input, tags: ["t"], externalRef: "r" });
    expect(headers["x-execution-id"]).toBe(json.executionId);
    expect(json).toMatchObject({
      status: "succeeded",
      resolvedProvider: "sandbox",
      resolvedModel: "sandbox-1",
      externalRef: "r",
      tags: ["t"],
      typedOutput: { role: "assistant", content: expect.any(String) },
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), currency: "USD" },
      receiptId: json.executionId.replace("wfr_", "rcpt_"),
      errorCode: null,
      terminationReason: "stop",
      warnings: [],
    });
    expect(json.actualCost).toBeGreaterThan(0);
    const job = await get(200, `/v1/jobs/${json.executionId}`);
    expect(job.json).toMatchObject({
      status: "succeeded",
      typedOutput: json.typedOutput,
      receiptId: json.receiptId,
    });
    const receipt = await get(200, `/v1/jobs/${json.executionId}/receipt`);
    expect(receipt.json).toMatchObject({ receiptId: json.receiptId, executionMode: "invoke_sync" });
    const { json: page } = await get(200, `/v1/jobs/${json.executionId}/events`);
    expect(page.events.map((event: { type: string }) => event.type)).toEqual([
      "job.started",
      "job.provider_submitted",
      "job.succeeded",
      "job.receipt_sealed",
    ]);
    const result = await get(200, `/v1/jobs/${json.executionId}/result`);
    expect(result.json).toMatchObject({
      typedOutput: json.typedOutput,
      outputPayloadRef: json.outputPayloadRef,
    });
  });

  test("a replay is byte for byte the first answer, and 409 keeps the key for its request", async () => {
    const body = { ...say("Once more."), idempotencyKey: "again", metadata: { a: 1 } };
    const first = await post(200, at(TEXT, "invoke"), body);
    expect((await post(200, at(TEXT, "invoke"), body)).json).toEqual(first.json);
    const refused = await post([409, "IdempotencyConflict"], at(TEXT, "invoke"), { ...body, metadata: {} });
    const jobId = first.json.executionId;
    expect(refused.json).toMatchObject({ code: "IdempotencyConflict", jobId, details: { jobId } });
  });

  test("400: what does not run at once says where it runs", async () => {
    const submit = `/v1/capabilities/${TEXT}/jobs`;
    const image = await post([400, "USE_JOBS"], at(IMAGE, "invoke"), { prompt: "x" });
    expect(image.json.details).toEqual({ submit: `/v1/capabilities/${IMAGE}/jobs` });
    const durable = await post([400, "USE_JOBS"], at(TEXT, "invoke"), { input, executionMode: "DurableJob" });
    expect(durable.json.details).toEqual({ submit });
    const long = await post([400, "USE_JOBS"], at(TEXT, "invoke"), {
      input: { ...input, maxOutputTokens: 2049 },
    });
    expect(long.json.details).toEqual({ submit });
    const slow = await post([400, "USE_JOBS"], at(TEXT, "invoke"), { input, maxDurationSeconds: 61 });
    expect(slow.json.details).toEqual({ submit });
    await post(200, at(TEXT, "invoke"), { input, maxDurationSeconds: 60 });
    const local = await post([422, "list"], at(MATH, "invoke"), {
      input: { expression: "1" },
      maxDurationSeconds: 61,
    });
    expect(local.json.detail[0]).toMatchObject({
      loc: ["body", "execution", "executionConstraints", "maxDurationSeconds"],
      type: "less_than_equal",
      ctx: { maximum: 60 },
    });
    await post(200, at(TEXT, "invoke"), { input: { ...input, maxOutputTokens: 2048 } });
    await post([422, "list"], at(TEXT, "invoke"), { input, executionMode: "ProductionWorkflow" });
    for (const executionMode of ["RequestResponse", "Stream"]) {
      const early = { input, executionMode, readerDelivery: {} };
      const refused = await post([422, "list"], at(TEXT, "invoke"), early);
      expect(refused.json.detail[0]).toMatchObject({ loc: ["body", "readerDelivery"] });
    }
  });

  const FAILURES: [ErrorCode, string, Record<string, unknown>][] = [
    ["ProviderRejected", TEXT, { input, preferredModel: "sandbox-refuse" }],
    ["PROVIDER_EMPTY_OUTPUT", TEXT, { input, preferredModel: "sandbox-empty" }],
    ["UnsupportedTld", "domain.search.v1", { input: { domain: "name.nowhere" } }],
    ["PROVIDER_ERROR", TEXT, { input, preferredModel: "sandbox-fail" }],
    ["TRANSPORT_AMBIGUOUS", TEXT, { input, preferredModel: "sandbox-lost" }],
    ["ExecutionTimeout", TEXT, { input, preferredModel: "sandbox-slow", timeoutSeconds: 5 }],
    ["OutputLimitReached", TEXT, { input: { ...input, maxOutputTokens: 1 } }],
    ["StructuredOutputInvalid", JSON_TEXT, { input, preferredModel: "sandbox-careless" }],
    ["StructuredOutputRepairFailed", JSON_TEXT, { input, preferredModel: "sandbox-stubborn" }],
    ["ReasoningBudgetExhausted", JSON_TEXT, { input, preferredModel: "sandbox-thinker" }],
    [
      "EmptyStructuredOutput",
      "text.translate.v1",
      {
        input: { targetLocale: "de", items: [{ id: "a", text: "Hello" }] },
        preferredModel: "sandbox-hollow",
      },
    ],
    ...(
      [
        ["invalid_expression", "1 +"],
        ["unknown_variable", "x"],
        ["unsupported_function", "sin(1)"],
        ["division_by_zero", "1 / 0"],
        ["numeric_overflow", "1e9000 * 1e9000"],
        ["precision_limit_exceeded", "1 + 1e40 % 3"],
        ["complexity_limit_exceeded", "2 ^ 10001"],
        ["domain_error", "sqrt(-1)"],
        ["invalid_parameter", "round(1, 0.5)"],
      ] as const
    ).map(([code, expression]): [ErrorCode, string, Record<string, unknown>] => [code, MATH, { expression }]),
    ["invalid_variable", MATH, { expression: "x", variables: { x: "one" } }],
  ];

  const PLACED = new Set<ErrorCode>(
    FAILURES.filter(([code, capability]) => capability === MATH && code !== "invalid_variable").map(
      ([code]) => code,
    ),
  );

  for (const [code, capability, body] of FAILURES) {
    test(`${ERRORS[code].status}: ${code} names its record, which can be read`, async () => {
      const refused = await post([ERRORS[code].status, code], at(capability, "invoke"), {
        ...body,
        idempotencyKey: `fails with ${code}`,
      });
      const { executionId, receiptId, ...more } = refused.json.detail.details;
      expect(refused.json).toMatchObject({ executionId, receiptId, detail: { executionId, receiptId } });
      expect(refused.headers["x-execution-id"]).toBe(executionId);
      expect(refused.json.details).toEqual({ executionId, receiptId, ...more });
      // An expression's error says where in its text it stands; nothing else has more to say.
      if (PLACED.has(code)) expect(more).toEqual({ position: expect.any(Number) });
      else expect(more).toEqual({});
      const { json: job } = await get(200, `/v1/jobs/${executionId}`);
      expect(job).toMatchObject({
        status: "failed",
        receiptId,
        error: { code, message: refused.json.message, ...(PLACED.has(code) ? { details: more } : {}) },
      });
      const { json: receipt } = await get(200, `/v1/jobs/${executionId}/receipt`);
      expect(receipt).toMatchObject({ receiptId, status: "failed", error: { code } });
      const again = await post([ERRORS[code].status, code], at(capability, "invoke"), {
        ...body,
        idempotencyKey: `fails with ${code}`,
      });
      expect(again.json).toEqual(refused.json);
    });
  }

  test("a run that is canceled while it waits for its provider answers 409", async () => {
    const { key } = await makeTenant();
    const running = post(
      [409, "Cancelled"],
      at(TEXT, "invoke"),
      { input, preferredModel: "sandbox-slow", tags: ["stopped"] },
      { key },
    );
    const executionId = await vi.waitFor(
      async () => {
        const { json } = await call("GET", "/v1/jobs", { key });
        expect(json.items[0]?.status).toBe("running");
        return json.items[0].jobId as string;
      },
      { timeout: 10_000, interval: 20 },
    );
    await post(200, `/v1/jobs/${executionId}/cancel`, undefined, { key });
    const refused = await running;
    expect(refused.json.detail).toMatchObject({ executionId });
  });

  test("a busy provider is asked again inside the limit", async () => {
    const { json } = await post(200, at(TEXT, "invoke"), { input, preferredModel: "sandbox-busy" });
    expect(json.status).toBe("succeeded");
  });

  const { SANDBOX_URL } = env;
  afterEach(() => {
    env.SANDBOX_URL = SANDBOX_URL;
  });

  test("503: a provider that cannot be reached was sent nothing, and a new key is safe", async () => {
    env.SANDBOX_URL = "http://127.0.0.1:1";
    const refused = await post([503, "ProviderUnavailable"], at(TEXT, "invoke"), { input });
    const { json: job } = await get(200, `/v1/jobs/${refused.json.details.executionId}`);
    expect(job).toMatchObject({ status: "failed", actualCost: 0, retry: { newKeySafe: true } });
    expect(job.diagnostics.backendState).toBe("not_attempted");
  });
});

describe("jobs", () => {
  test("GET an execution's frames: 404 for one that does not exist, and for a job, which has events", async () => {
    for (const id of [newId("job"), done]) await get([404, "NotFound"], `/v1/executions/${id}/events`);
    const odd = { headers: { "last-event-id": "the last" } };
    const refused = await get([422, "list"], `/v1/executions/${executed}/events`, odd);
    expect(refused.json.detail[0].loc).toEqual(["header", "Last-Event-ID"]);
  });

  for (const what of ["", "/events", "/request", "/result", "/receipt", "/artifacts/art_1"]) {
    test(`GET /v1/jobs/{job_id}${what}: 404 for no such job`, async () => {
      await get([404, "NotFound"], `/v1/jobs/${newId("job")}${what}`);
      await get([404, "NotFound"], `/v1/jobs/nonsense${what}`);
    });
  }

  test("POST: 404 for no such job", async () => {
    for (const verb of ["cancel", "approve", "reject", "retry"])
      await post([404, "NotFound"], `/v1/jobs/${newId("job")}/${verb}`);
    await post([404, "NotFound"], `/v1/jobs/${newId("job")}/variants/select`, { artifactId: "art_1" });
  });

  test("a finished text job: output, receipt, snapshot with the executed prompt, nothing more to ask", async () => {
    const { json } = await get(200, `/v1/jobs/${done}`);
    expect(json).toMatchObject({
      status: "succeeded",
      nextAction: "download_artifacts",
      pollAfterSeconds: null,
      receiptId: done.replace("wfr_", "rcpt_"),
      retry: { sameKey: false, newKeySafe: false },
      requestSnapshot: { capability: TEXT, input: { ...input, prompt: "How deep is the sea?" } },
      diagnostics: { backendKind: "provider", backendState: "attempted", backendId: "sandbox/sandbox-1" },
      variantSet: null,
      progress: null,
      approval: null,
      pricing: { mode: "managed", fundingSource: "sandbox", charge: { customerCharge: { currency: "USD" } } },
    });
    expect(json.outputs).toEqual(json.typedOutput);
    expect(json.actualCost).toBe(json.pricing.providerCost.amount.amountMicros / 1_000_000);
    const { json: request } = await get(200, `/v1/jobs/${done}/request`);
    expect(request.request.input).toEqual(input);
    expect(request.requestHash).toBe(`v1:${sha256Hex(canonicalText(request.request))}`);
    const { json: result } = await get(200, `/v1/jobs/${done}/result`);
    expect(result).toMatchObject({
      jobId: done,
      status: "succeeded",
      payloadState: "available",
      error: null,
    });
    expect(result.typedOutput).toEqual(json.typedOutput);
  });

  test("a job that waits says how long to wait, has no result, and 409 instead of a receipt", async () => {
    const { json } = await get(200, `/v1/jobs/${queued}`);
    expect(json).toMatchObject({ status: "queued", nextAction: "poll", receiptId: null, pricing: null });
    await pool.query("UPDATE job SET created_at = now() - interval '11 seconds' WHERE id = $1", [queued]);
    expect((await get(200, `/v1/jobs/${queued}`)).json.pollAfterSeconds).toBe(4);
    const { json: result } = await get(200, `/v1/jobs/${queued}/result`);
    expect(result).toMatchObject({
      typedOutput: null,
      outputPayloadRef: null,
      payloadState: null,
      artifacts: [],
    });
    const refused = await get([409, "JobNotFinished"], `/v1/jobs/${queued}/receipt`);
    expect(refused.json.detail.details).toEqual({ status: "queued" });
  });

  test("a snapshot whose content was removed names what is still known", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input, idempotencyKey: "pruned" });
    await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1", [json.jobId]);
    const { json: job } = await get(200, `/v1/jobs/${json.jobId}`);
    expect(job.requestSnapshot).toEqual({
      capability: TEXT,
      productId: "",
      environment: "development",
      idempotencyKey: "pruned",
    });
    const { json: request } = await get(200, `/v1/jobs/${json.jobId}/request`);
    expect(request).toMatchObject({
      contentState: "pruned",
      request: null,
      requestHash: expect.stringMatching(/^v1:/),
    });
  });

  test("a canceled job stays canceled; a finished one cannot be", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input });
    const first = await post(200, `/v1/jobs/${json.jobId}/cancel`);
    expect(first.json).toMatchObject({
      status: "canceled",
      nextAction: "stop",
      error: { code: "Cancelled", retryable: false, terminal: true },
      retry: { sameKey: false, newKeySafe: true },
      actualCost: 0,
    });
    expect((await post(200, `/v1/jobs/${json.jobId}/cancel`)).json).toEqual(first.json);
    const refused = await post([409, "JobNotCancelable"], `/v1/jobs/${done}/cancel`);
    expect(refused.json.detail.details).toEqual({ status: "succeeded" });
  });
});

describe("a job that waits for a person", () => {
  const waitingJob = () => submitWaiting(tenant, TEXT, { input });
  const features = (settings: object) =>
    pool.query("UPDATE organization SET settings = $2 WHERE id = $1", [
      tenant.organizationId,
      JSON.stringify(settings),
    ]);

  test("says who may decide until when, and is queued when it is approved; approving again answers with it", async () => {
    const waiting = await waitingJob();
    expect(waiting).toMatchObject({
      status: "awaiting_approval",
      nextAction: "present_approval",
      pollAfterSeconds: null,
      approval: {
        reason: "estimate_above_threshold",
        threshold: 0,
        currency: "USD",
        deadlineAt: new Date(Date.parse(waiting.createdAt) + 7 * 86_400_000).toISOString(),
        whoMayDecide: { keyScope: "approvals:write", differentPersonRequired: false },
        approvalUrl: expect.stringMatching(new RegExp(`^http.*/jobs/${waiting.jobId}$`)),
        approvePath: `/v1/jobs/${waiting.jobId}/approve`,
      },
    });
    expect((await get(200, `/v1/jobs/${waiting.jobId}`)).json).toEqual(waiting);
    const path = `/v1/jobs/${waiting.jobId}/approve`;
    const estimate = waiting.approval?.estimatedCost ?? 0;
    const { json } = await post([409, "EstimateExceedsMaxCost"], path, { authorizedMaxAmount: estimate / 2 });
    expect(json.detail.details).toEqual({ authorizedMaxAmount: estimate / 2, estimatedCost: estimate });
    const { json: job } = await post(200, path, { authorizedMaxAmount: estimate });
    expect(job).toMatchObject({ status: "queued", nextAction: "poll", approval: null });
    expect((await post(200, path)).json).toMatchObject({ jobId: waiting.jobId, status: "queued" });
    await post([409, "JobNotAwaitingApproval"], `/v1/jobs/${waiting.jobId}/reject`);
    expect((await finish(waiting.jobId)).status).toBe("succeeded");
  });

  test("is canceled when it is rejected; rejecting again answers with it", async () => {
    const { jobId } = await waitingJob();
    const { json } = await post(200, `/v1/jobs/${jobId}/reject`);
    expect(json).toMatchObject({
      status: "canceled",
      nextAction: "stop",
      error: { code: "ApprovalRejected", retryable: false, terminal: true },
      actualCost: 0,
    });
    expect((await post(200, `/v1/jobs/${jobId}/reject`)).json).toEqual(json);
    await post([409, "JobNotAwaitingApproval"], `/v1/jobs/${jobId}/approve`);
  });

  test("409 for one that never waited; 403 where the plan has no such thing", async () => {
    for (const verb of ["approve", "reject"]) {
      const refused = await post([409, "JobNotAwaitingApproval"], `/v1/jobs/${done}/${verb}`);
      expect(refused.json.detail.details).toEqual({ status: "succeeded" });
    }
    const { jobId } = await waitingJob();
    await features({ features: { cancel: false, approve: false, reject: false } });
    for (const verb of ["approve", "reject", "cancel"]) {
      const { json } = await post([403, "CapabilityNotAllowed"], `/v1/jobs/${jobId}/${verb}`);
      expect(json.detail.details).toEqual({ feature: verb, plan: "self-hosted" });
    }
    await features({});
    await post(200, `/v1/jobs/${jobId}/cancel`);
  });

  test("cannot be had by an invoke above the threshold: it names the durable job instead", async () => {
    const set = "UPDATE project SET approval_threshold_micros = $2 WHERE id = $1";
    await pool.query(set, [tenant.projectId, 0]);
    await post([400, "USE_JOBS"], at(TEXT, "invoke"), { input });
    await pool.query(set, [tenant.projectId, null]);
    await post(200, at(TEXT, "invoke"), { input });
  });
});

describe("retry", () => {
  const retry = (jobId: string) => `/v1/jobs/${jobId}/retry`;
  const refusedJob = async () => {
    const { json } = await post(200, at(TEXT, "jobs"), {
      input,
      preferredModel: "sandbox-refuse",
      tags: ["mine"],
    });
    return (await finish(json.jobId)).jobId;
  };

  test("is a new job of the same request under a new key, once, or once for each key that is named", async () => {
    const first = await refusedJob();
    const { json } = await post(200, retry(first));
    expect(json).toMatchObject({ retryOf: first, status: "queued", tags: ["mine"] });
    const original = (await get(200, `/v1/jobs/${first}/request`)).json;
    const again = (await get(200, `/v1/jobs/${json.jobId}/request`)).json;
    expect(again.request).toEqual(original.request);
    expect(again.requestHash).toBe(original.requestHash);
    expect(again.idempotencyKey).not.toBe(original.idempotencyKey);
    expect((await post(200, retry(first))).json.jobId).toBe(json.jobId);
    const headers = { "idempotency-key": "third-try" };
    const third = await post(200, retry(first), undefined, { headers });
    expect([first, json.jobId]).not.toContain(third.json.jobId);
    const taken = { "idempotency-key": original.idempotencyKey };
    expect((await post(200, retry(first), undefined, { headers: taken })).json.jobId).toBe(first);
  });

  test("409 where it may have run, has not ended, or its key stands for something else", async () => {
    await post([409, "RetryNotSafe"], retry(done));
    await post([409, "RetryNotSafe"], retry(queued));
    const { json } = await post(200, at(TEXT, "jobs"), { input, preferredModel: "sandbox-lost" });
    await finish(json.jobId);
    await post([409, "RetryNotSafe"], retry(json.jobId));
    const other = (await post(200, at(TEXT, "jobs"), say("Something else."))).json;
    const headers = { "idempotency-key": other.idempotencyKey };
    await post([409, "IdempotencyConflict"], retry(canceled), undefined, { headers });
  });

  test("409 for a competitor that nobody has judged, as for its receipt", async () => {
    const { json } = await post(200, at(TEXT, "jobs"), { input });
    const { receiptId } = await finish(json.jobId);
    const comparisonId = newId("comparison");
    await pool.query("UPDATE job SET is_blind = true, comparison_id = $2 WHERE id = $1", [
      json.jobId,
      comparisonId,
    ]);
    for (const refused of [
      await post([409, "ComparisonUnjudged"], retry(json.jobId)),
      await get([409, "ComparisonUnjudged"], `/v1/jobs/${json.jobId}/receipt`),
      await post([409, "ComparisonUnjudged"], MANIFESTS, { label: "x", receiptIds: [receiptId] }),
    ])
      expect(refused.json.detail.details).toEqual({ comparisonId });
  });

  test("409 where the route has gone meanwhile, 410 where the content was removed, 400 for a synchronous run", async () => {
    const rewrite = (jobId: string, content: string | null) =>
      pool.query("UPDATE payload SET content = $2 WHERE job_id = $1 AND kind = 'request'", [jobId, content]);
    const first = await refusedJob();
    const { request } = (await get(200, `/v1/jobs/${first}/request`)).json;
    const wanting = (preferredModel: string) => {
      const execution = { ...request.execution, executionConstraints: { preferredModel } };
      return JSON.stringify({ ...request, execution });
    };
    await rewrite(first, wanting("gone-1"));
    await post([409, "ROUTE_UNAVAILABLE"], retry(first));
    await rewrite(first, wanting("gpt-4.1-mini"));
    await post([409, "CONNECTION_REQUIRED"], retry(first));
    await rewrite(first, null);
    await post([410, "PayloadUnavailable"], retry(first));
    const { json } = await post([422, "division_by_zero"], at(MATH, "invoke"), { expression: "1 / 0" });
    await post([400, "USE_INVOKE"], retry(json.detail.executionId));
  });
});

describe("events", () => {
  const events = async (query: string) => (await get(200, `/v1/jobs/${image.jobId}/events${query}`)).json;

  test("ids count from one without gaps; a page ends with nextCursor only when more remains", async () => {
    const whole = await events("");
    const ids = whole.events.map((event: { id: string }) => event.id);
    expect(ids).toEqual(ids.map((_: string, position: number) => String(position + 1)));
    expect(whole).not.toHaveProperty("nextCursor");
    for (const event of whole.events) {
      expect(event).toMatchObject({ cursor: event.id, jobId: image.jobId, projectId: tenant.projectId });
    }
    expect(whole.events.map((event: { type: string }) => event.type)).toEqual([
      "job.queued",
      "job.started",
      "job.provider_submitted",
      "job.artifact_stored",
      "job.artifact_stored",
      "job.succeeded",
      "job.receipt_sealed",
    ]);

    let cursor: string | undefined;
    const paged = [];
    do {
      const page = await events(`?limit=2${cursor ? `&cursor=${cursor}` : ""}`);
      expect(page.events.length).toBeLessThanOrEqual(2);
      paged.push(...page.events);
      cursor = page.nextCursor;
    } while (cursor);
    expect(paged).toEqual(whole.events);
    expect(await events(`?limit=${ids.length}`)).not.toHaveProperty("nextCursor");
    expect((await events(`?limit=${ids.length - 1}`)).nextCursor).toBe(ids.at(-2));
  });

  test("a cursor is exclusive, past the end it finds nothing, and it is a number", async () => {
    expect((await events("?cursor=5")).events.map((event: { id: string }) => event.id)).toEqual(["6", "7"]);
    for (const cursor of ["7", "8", "2147483647", "2147483648", "9999999999999999999"]) {
      expect(await events(`?cursor=${cursor}`)).toEqual({ events: [] });
    }
    expect((await events("?cursor=0")).events).toHaveLength(7);
    for (const cursor of ["x", "-1", "1.5", "1e3", " 1"]) {
      const target = `/v1/jobs/${image.jobId}/events?cursor=${encodeURIComponent(cursor)}`;
      expect((await get([422, "list"], target)).json.detail[0].loc).toEqual(["query", "cursor"]);
    }
  });

  test("one type alone can be read, paged by the same ids", async () => {
    const first = await events("?type=job.artifact_stored&limit=1");
    expect(first).toMatchObject({ events: [{ id: "4" }], nextCursor: "4" });
    expect(await events(`?type=job.artifact_stored&limit=1&cursor=4`)).toMatchObject({
      events: [{ id: "5" }],
    });
    expect(await events("?type=job.unheard_of")).toEqual({ events: [] });
  });

  test("a limit is 1 to 200", async () => {
    for (const limit of ["0", "201", "x", "1.5"]) {
      const { json } = await get([422, "list"], `/v1/jobs/${image.jobId}/events?limit=${limit}`);
      expect(json.detail[0].loc).toEqual(["query", "limit"]);
    }
    await events("?limit=200");
  });
});

describe("stored inputs", () => {
  const upload = (body: string | Uint8Array, headers: Record<string, string> = {}, query = "") =>
    call("POST", `/v1/artifacts${query}`, { key: tenant.key, body, headers });

  test("a payload answers its hash; an unbound key names its project", async () => {
    const { json } = await post(200, "/v1/payloads", { b: 1, a: [2] });
    const text = '{"a":[2],"b":1}';
    expect(json).toEqual({
      payloadId: expect.stringMatching(/^pay_/),
      sha256: sha256Hex(text),
      byteLength: text.length,
      expiresAt: expect.any(String),
    });
    const unbound = { key: tenant.unboundKey, body: {} };
    await ask([422, "PROJECT_REQUIRED"], "POST", "/v1/payloads", unbound);
    await ask(200, "POST", `/v1/payloads?projectId=${tenant.projectId}`, unbound);
    const foreign = `/v1/payloads?projectId=${newId("project")}`;
    await ask([403, "AuthorizationFailed"], "POST", foreign, unbound);
  });

  test("an upload is served as it came, in ranges, and never rendered", async () => {
    const { json } = await ask(200, "POST", "/v1/artifacts?filename=notes.txt", {
      key: tenant.key,
      body: "Notes of the day",
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    expect(json).toMatchObject({
      kind: "input",
      mediaType: "text/html",
      filename: "notes.txt",
      byteLength: 16,
      sha256: sha256Hex("Notes of the day"),
      downloadPath: `/v1/artifacts/${json.artifactId}`,
    });
    const whole = await get(200, json.downloadPath);
    expect(whole.text).toBe("Notes of the day");
    expect(whole.headers).toMatchObject({
      "content-type": "text/html",
      "content-disposition": 'attachment; filename="notes.txt"',
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
    const part = await get(206, json.downloadPath, { headers: { range: "bytes=0-4" } });
    expect(part.text).toBe("Notes");
    await get(304, json.downloadPath, { headers: { "if-none-match": `"${json.sha256}"` } });
    await get([416, "RangeNotSatisfiable"], json.downloadPath, { headers: { range: "bytes=16-" } });
    await artifactStore().remove(json.sha256);
    await get([410, "Gone"], json.downloadPath);
    await get([404, "NotFound"], `/v1/artifacts/${newId("artifact")}`);
  });

  test("an upload that is empty, too large or nobody's is refused", async () => {
    check(await upload(""), [422, "list"], "POST", "/v1/artifacts");
    const huge = await upload("x", { "content-length": String(256 * 1024 * 1024 + 1) });
    check(huge, [413, "PayloadTooLarge"], "POST", "/v1/artifacts");
    check(await upload("x", {}, "?retentionRequirement=Forever"), [422, "list"], "POST", "/v1/artifacts");
    const unbound = { key: tenant.unboundKey, body: "x" };
    await ask([422, "PROJECT_REQUIRED"], "POST", "/v1/artifacts", unbound);
    await ask(200, "POST", `/v1/artifacts?projectId=${tenant.projectId}`, unbound);
  });
});

describe("artifacts and variants", () => {
  const path = (position: number) =>
    `/v1/jobs/${image.jobId}/artifacts/${image.artifacts[position]?.artifactId}`;

  test("the bytes are those the receipt names", async () => {
    const { json: receipt } = await get(200, `/v1/jobs/${image.jobId}/receipt`);
    for (const [position, artifact] of receipt.artifacts.entries()) {
      expect(artifact.downloadPath).toBe(path(position));
      const answer = await get(200, artifact.downloadPath);
      expect(sha256Hex(answer.bytes)).toBe(artifact.sha256);
      expect(answer.bytes.byteLength).toBe(artifact.byteLength);
      expect(answer.headers).toMatchObject({
        "content-type": "image/png",
        "content-length": String(artifact.byteLength),
        etag: `"${artifact.sha256}"`,
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
      });
    }
  });

  test("206, 304, 416 and HEAD", async () => {
    const whole = await get(200, path(0));
    const length = whole.bytes.byteLength;
    const part = await get(206, path(0), { headers: { range: "bytes=10-19" } });
    expect(part.bytes.equals(whole.bytes.subarray(10, 20))).toBe(true);
    expect(part.headers["content-range"]).toBe(`bytes 10-19/${length}`);
    const tail = await get(206, path(0), { headers: { range: "bytes=-5" } });
    expect(tail.bytes.equals(whole.bytes.subarray(-5))).toBe(true);
    const known = await get(304, path(0), { headers: { "if-none-match": whole.headers.etag ?? "" } });
    expect(known.bytes.byteLength).toBe(0);
    const beyond = { headers: { range: `bytes=${length}-` } };
    const refused = await get([416, "RangeNotSatisfiable"], path(0), beyond);
    expect(refused.headers).toMatchObject({
      "content-range": `bytes */${length}`,
      "content-type": "application/json",
    });
    expect(refused.headers).not.toHaveProperty("content-length");
    expect(refused.json.detail.details).toEqual({ byteLength: length });
    const head = await ask(200, "HEAD", path(0), { key: tenant.key });
    expect(head.headers["content-length"]).toBe(String(length));
    expect(head.bytes.byteLength).toBe(0);
  });

  test("404 for an artifact that is not the job's, 410 when its bytes were removed", async () => {
    await get([404, "NotFound"], `/v1/jobs/${image.jobId}/artifacts/${newId("artifact")}`);
    await get([404, "NotFound"], `/v1/jobs/${done}/artifacts/${image.artifacts[0]?.artifactId}`);
    const { json } = await post(200, at(IMAGE, "jobs"), { prompt: "Something to be removed soon" });
    const [gone] = (await finish(json.jobId)).artifacts;
    await artifactStore().remove(gone?.sha256 ?? "");
    await get([410, "Gone"], gone?.downloadPath ?? "");
  });

  test("a variant is chosen, at once everywhere, and the choice may change", async () => {
    const { json } = await post(200, at(IMAGE, "jobs"), { prompt: "Two kites", variantCount: 2 });
    const [one, two] = (await finish(json.jobId)).artifacts.map(({ artifactId }) => artifactId);
    const before = (await get(200, `/v1/jobs/${json.jobId}`)).json;
    expect(before).toMatchObject({ primaryArtifactId: null, selectedArtifactId: null });
    expect(before.artifacts.map((each: { variantIndex: number }) => each.variantIndex)).toEqual([0, 1]);
    for (const artifactId of [one, two]) {
      const { json: job } = await post(200, `/v1/jobs/${json.jobId}/variants/select`, { artifactId });
      expect(job).toMatchObject({
        status: "succeeded",
        selectedArtifactId: artifactId,
        primaryArtifactId: artifactId,
        variantSet: { selectedArtifactId: artifactId, requestedCount: 2, completedCount: 2, failedCount: 0 },
      });
      expect(job.artifacts.filter((each: { selected: boolean }) => each.selected)).toMatchObject([
        { artifactId },
      ]);
      expect((await get(200, `/v1/jobs/${json.jobId}`)).json).toEqual(job);
    }
    await post(200, `/v1/jobs/${json.jobId}/variants/select`, { artifactId: two });
    const { json: page } = await get(200, `/v1/jobs/${json.jobId}/events?type=job.variant_selected`);
    expect(page.events.map((event: { payload: unknown }) => event.payload)).toEqual([
      { artifactId: one },
      { artifactId: two },
    ]);
    const sealed = (await get(200, `/v1/jobs/${json.jobId}/receipt`)).json;
    expect(sealed.artifacts.map((each: { selected: boolean }) => each.selected)).toEqual([false, false]);
  });

  test("422 for what is no variant of the job, 409 before it has succeeded", async () => {
    const target = `/v1/jobs/${image.jobId}/variants/select`;
    const { json } = await post([422, "list"], target, { artifactId: newId("artifact") });
    expect(json.detail[0].loc).toEqual(["body", "artifactId"]);
    await post([422, "list"], target, {});
    await post([422, "list"], target, { artifactId: "art_1", extra: 1 });
    await post([409, "JobNotFinished"], `/v1/jobs/${queued}/variants/select`, { artifactId: "art_1" });
  });
});

describe("history", () => {
  let owner: Tenant;
  let ids: Record<"text" | "image" | "failed" | "queued" | "selected", string>;
  beforeAll(async () => {
    owner = await makeTenant();
    const submit = async (key: string, body: unknown) => (await owner.post(at(key, "jobs"), body)).json.jobId;
    ids = {
      text: await submit(TEXT, { ...say("a secret phrase"), tags: ["red", "blue"] }),
      image: await submit(IMAGE, { prompt: "a secret phrase" }),
      failed: await submit(TEXT, {
        ...say("a secret phrase"),
        preferredModel: "sandbox-refuse",
        tags: ["red"],
      }),
      queued: await submit(TEXT, say("a secret phrase")),
      selected: await submit(IMAGE, { prompt: "a secret phrase", variantCount: 2 }),
    };
    for (const name of ["text", "image", "failed", "selected"] as const) await finish(ids[name]);
    const { json } = await owner.get(`/v1/jobs/${ids.selected}`);
    await owner.post(`/v1/jobs/${ids.selected}/variants/select`, {
      artifactId: json.artifacts[1].artifactId,
    });
  }, 60_000);

  const project = (query: string) => `/v1/projects/${owner.projectId}/jobs${query}`;
  const page = async (target: string) => (await get(200, target, { key: owner.key })).json;
  const listed = async (query: string) =>
    (await page(project(query))).items.map((item: { jobId: string }) => item.jobId);

  test("every filter, and filters together", async () => {
    const { text, image, failed, queued, selected } = ids;
    expect(await listed("")).toEqual([selected, queued, failed, image, text]);
    expect(await listed("?status=queued")).toEqual([queued]);
    expect(await listed("?status=canceled")).toEqual([]);
    expect(await listed(`?capabilityKey=${IMAGE}`)).toEqual([selected, image]);
    expect(await listed("?outcome=failed")).toEqual([failed]);
    expect(await listed("?outcome=reusable")).toEqual([selected, image]);
    expect(await listed("?selected=true")).toEqual([selected]);
    expect(await listed("?selected=false")).toEqual([queued, failed, image, text]);
    expect(await listed("?tag=red")).toEqual([failed, text]);
    expect(await listed("?tag=red&outcome=failed")).toEqual([failed]);
    expect(await listed("?status=queued&outcome=failed")).toEqual([]);
    expect(await listed("?status=succeeded&outcome=reusable&selected=true")).toEqual([selected]);
  });

  test("pages by keyset hold everything once, also while jobs arrive", async () => {
    for (const target of [project("?limit=2"), "/v1/jobs?limit=2"]) {
      const everything = (await page(target.replace("limit=2", "limit=100"))).items;
      const collected = [];
      let cursor: string | null = null;
      do {
        const next = await page(`${target}${cursor ? `&cursor=${cursor}` : ""}`);
        collected.push(...next.items);
        cursor = next.nextCursor;
        await owner.post(at(TEXT, "jobs"), say("another"));
      } while (cursor);
      expect(collected).toEqual(everything);
    }
  });

  test("a line has its outcome and nothing of what was asked or answered", async () => {
    for (const target of [project("?limit=100"), "/v1/jobs?limit=100"]) {
      const { items } = await page(target);
      expect(JSON.stringify(items)).not.toMatch(/secret|refuses|message/);
      const line = (jobId: string) => items.find((item: { jobId: string }) => item.jobId === jobId);
      expect(line(ids.failed)).toEqual({
        jobId: ids.failed,
        status: "failed",
        capabilityKey: TEXT,
        capability: TEXT,
        createdAt: expect.any(String),
        completedAt: expect.any(String),
        artifactCount: 0,
        errorCode: "ProviderRejected",
        selectedArtifactId: null,
        receiptId: ids.failed.replace("wfr_", "rcpt_"),
        actualCost: 0,
        comparison: null,
      });
      expect(line(ids.selected)).toMatchObject({
        artifactCount: 2,
        selectedArtifactId: expect.stringMatching(/^art_/),
      });
      expect(line(ids.queued)).toMatchObject({ completedAt: null, receiptId: null, actualCost: null });
    }
  });

  test("422 for values no filter has; 404 for a project that is not the key's", async () => {
    for (const query of ["limit=0", "limit=101", "status=done", "outcome=ok", "selected=yes", "cursor=x"]) {
      const { json } = await get([422, "list"], project(`?${query}`), { key: owner.key });
      expect(json.detail[0].loc).toEqual(["query", query.split("=")[0]]);
    }
    for (const query of ["limit=0", "limit=101", "cursor=x"]) await get([422, "list"], `/v1/jobs?${query}`);
    await get([404, "NotFound"], `/v1/projects/${newId("project")}/jobs`);
    await get([404, "NotFound"], project(""));
  });

  test("GET /v1/jobs is of the key that asks", async () => {
    const second = await makeKey({ projectId: owner.projectId });
    expect((await get(200, "/v1/jobs", { key: second })).json).toEqual({ items: [], nextCursor: null });
  });
});

describe("webhooks", () => {
  const hooks = "/v1/delivery-endpoints";
  const body = { url: "https://hooks.example/in?room=1", secret: "whsec_c2VjcmV0" };

  test("an endpoint is answered whole, and without its secret", async () => {
    const { json } = await post(201, hooks, {
      ...body,
      eventTypes: ["job.failed", "job.failed"],
      projectId: null,
    });
    expect(json).toEqual({
      endpointId: expect.stringMatching(/^whe_/),
      organizationId: tenant.organizationId,
      projectId: tenant.projectId,
      url: body.url,
      eventTypes: ["job.failed"],
      enabled: true,
      disabledReason: null,
      createdBy: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const changed = await ask(200, "PATCH", `${hooks}/${json.endpointId}`, {
      key: tenant.key,
      body: { url: "https://hooks.example/other", secret: null, eventTypes: [], enabled: false },
    });
    expect(changed.json).toEqual({
      ...json,
      url: "https://hooks.example/other",
      eventTypes: [],
      enabled: false,
      updatedAt: expect.any(String),
    });
    expect((await post(200, `${hooks}/${json.endpointId}/disable`)).json).toMatchObject({ enabled: false });
    const { items } = (await get(200, `${hooks}?projectId=${tenant.projectId}`)).json;
    expect(items[0]).toMatchObject({ endpointId: json.endpointId, url: "https://hooks.example/other" });
  });

  test("422 for what no event can be sent to or signed with, each by its field", async () => {
    const wrong: [string, unknown][] = [
      ["url", { ...body, url: "hooks.example" }],
      ["url", { ...body, url: "ftp://hooks.example" }],
      ["url", { ...body, url: "https://me:word@hooks.example" }],
      ["url", { ...body, url: "https://127.0.0.1/" }],
      ["url", { ...body, url: "https://[::ffff:10.0.0.1]/" }],
      ["url", { ...body, url: "https://localhost:3000" }],
      ["secret", { url: body.url }],
      ["secret", { ...body, secret: "" }],
      ["secret", { ...body, secret: "whsec_not base64" }],
      ["eventTypes", { ...body, eventTypes: ["job.done"] }],
      ["enabled", { ...body, enabled: "yes" }],
      ["organizationId", { ...body, organizationId: tenant.organizationId }],
      ["name", { ...body, name: "unknown" }],
    ];
    for (const [field, sent] of wrong) {
      const { json } = await post([422, "list"], hooks, sent);
      expect(json.detail[0].loc.slice(0, 2), JSON.stringify(sent)).toEqual(["body", field]);
    }
    const patch = { key: tenant.key, body: { url: "http://169.254.169.254/latest" } };
    expect((await ask([422, "list"], "PATCH", `${hooks}/${hook}`, patch)).json.detail[0].loc).toEqual([
      "body",
      "url",
    ]);
  });

  test("422 to a key of the organization that names no project; 403 for a project of somebody else", async () => {
    await post([422, "PROJECT_REQUIRED"], hooks, body, { key: tenant.unboundKey });
    await post([403, "AuthorizationFailed"], hooks, { ...body, projectId: newId("project") });
    await post([403, "AuthorizationFailed"], hooks, { ...body, projectId: tenant.otherProjectId });
    const elsewhere = { ...hookBody, projectId: tenant.otherProjectId };
    expect((await post(201, hooks, elsewhere, { key: tenant.unboundKey })).json.projectId).toBe(
      tenant.otherProjectId,
    );
  });

  test("404 for endpoints and deliveries that are not there", async () => {
    await ask([404, "NotFound"], "PATCH", `${hooks}/${newId("endpoint")}`, { key: tenant.key, body: {} });
    await post([404, "NotFound"], `${hooks}/${newId("endpoint")}/disable`);
    await post([404, "NotFound"], `/v1/deliveries/${newId("delivery")}/replay`);
  });

  test("deliveries are read newest first, page by page, and by each filter", async () => {
    const all = (await get(200, "/v1/deliveries?limit=200")).json.items;
    expect(all.length).toBeGreaterThan(1);
    expect(all.map(({ deliveryId }: { deliveryId: string }) => deliveryId)).toEqual(
      all
        .map(({ deliveryId }: { deliveryId: string }) => deliveryId)
        .toSorted()
        .toReversed(),
    );
    const read = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const { json } = await get(200, `/v1/deliveries?limit=1${cursor ? `&cursor=${cursor}` : ""}`);
      read.push(...json.items);
      cursor = json.nextCursor;
      more = cursor !== undefined;
    }
    expect(read).toEqual(all);
    const first = all[0];
    for (const [name, value] of Object.entries({
      projectId: tenant.projectId,
      endpointId: first.endpointId,
      jobId: first.jobId,
      state: first.state,
    })) {
      const { items } = (await get(200, `/v1/deliveries?${name}=${value}`)).json;
      expect(items).toEqual(all.filter((each: Record<string, string>) => each[name] === value).slice(0, 50));
    }
    expect((await get(200, "/v1/deliveries?state=failed")).json).toEqual({ items: [] });
    for (const query of ["limit=0", "limit=201", "state=done", "cursor=7", `cursor=${newId("job")}`]) {
      const { json } = await get([422, "list"], `/v1/deliveries?${query}`);
      expect(json.detail[0].loc).toEqual(["query", query.split("=")[0]]);
    }
    await get([422, "list"], `${hooks}?projectId=${"x".repeat(65)}`);
  });

  test("a replay answers the delivery; 409 while its endpoint is disabled, 410 when its body is gone", async () => {
    const target = `/v1/deliveries/${delivery}/replay`;
    expect((await post(200, target)).json).toMatchObject({ deliveryId: delivery, state: "pending" });
    await post(200, `${hooks}/${hook}/disable`);
    const refused = await post([409, "EndpointDisabled"], target);
    expect(refused.json.detail.details).toEqual({ endpointId: hook });
    await ask(200, "PATCH", `${hooks}/${hook}`, { key: tenant.key, body: { enabled: true } });
    await pool.query("UPDATE delivery SET body = NULL WHERE id = $1", [delivery]);
    await post([410, "Gone"], target);
  });

  test("a person who names no project makes an endpoint of the whole organization, which keys do not see", async () => {
    const cookie = await sessionOf(tenant.organizationId);
    const headers = { cookie, origin: "http://localhost:3000", "content-type": "application/json" };
    const { json } = await ask(201, "POST", hooks, { body: hookBody, headers });
    expect(json).toMatchObject({ organizationId: tenant.organizationId, projectId: null });
    const seenBy = async (options: Call) =>
      (await ask(200, "GET", hooks, options)).json.items.map(
        ({ endpointId }: { endpointId: string }) => endpointId,
      );
    expect(await seenBy({ headers })).toContain(json.endpointId);
    for (const key of [tenant.key, tenant.unboundKey]) {
      expect(await seenBy({ key })).not.toContain(json.endpointId);
      await post([404, "NotFound"], `${hooks}/${json.endpointId}/disable`, undefined, { key });
    }
    const other = await makeTenant();
    const foreign = { ...hookBody, organizationId: other.organizationId };
    await ask([403, "AuthorizationFailed"], "POST", hooks, { body: foreign, headers });
  });
});

describe("budgets and holds", () => {
  const asOwner = (wanted: Wanted, method: string, target: string, body?: unknown) =>
    ask(wanted, method, target, { ...owner, body });
  const roled = async (of: Tenant, role: "owner" | "member") => ({
    headers: await sessionHeaders(of.organizationId, role),
  });

  test("a policy is put by an admin in its short or its long form, and read by the project's keys with what counts", async () => {
    const own = await makeTenant();
    const target = `/v1/projects/${own.projectId}/budget-policy`;
    const put = async (wanted: Wanted, body: unknown) =>
      ask(wanted, "PUT", target, { ...(await roled(own, "owner")), body });
    expect((await ask(200, "GET", target, { key: own.key })).json).toEqual({
      projectId: own.projectId,
      enforcement: "off",
      budgets: [],
    });
    await put(200, { enforcement: "prevent", ceilingMicros: 1_000_000, period: "day" });
    await ask(200, "POST", at(TEXT, "jobs"), { key: own.key, body: { input } });
    const { json } = await ask(200, "GET", target, { key: own.key });
    const [budget] = json.budgets;
    expect(json).toMatchObject({ enforcement: "prevent", budgets: [{ period: "day", ceilingUsd: 1 }] });
    expect(budget.testSpend.heldMicros).toBeGreaterThan(0);
    expect(budget.testSpend.availableMicros).toBe(1_000_000 - budget.testSpend.heldMicros);
    const until = new Date(Date.now() + 60_000).toISOString();
    const temporaryIncrease = { amountMicros: 7, until, reason: "Launch" };
    const long = { budgets: [{ period: "total", ceilingUsd: 0, enforcement: "prevent", temporaryIncrease }] };
    expect((await put(200, long)).json.budgets).toMatchObject([
      { period: "day", enforcement: "off" },
      { period: "total", effectiveCeilingMicros: 7, temporaryIncrease },
    ]);
    await ask([402, "BudgetExceeded"], "POST", at(TEXT, "jobs"), { key: own.key, body: { input } });
    for (const wrong of [
      {},
      { enforcement: "maybe" },
      { period: "week", ceilingMicros: 1 },
      { ceilingMicros: -1 },
      { ceilingMicros: 1.5 },
      { ceilingMicros: 1, more: true },
      { ceilingMicros: 1, temporaryIncrease: { ...temporaryIncrease, until: "2020-01-01T00:00:00Z" } },
    ])
      await put([422, "list"], wrong);
    const member = await roled(own, "member");
    await ask([403, "AuthorizationFailed"], "PUT", target, { ...member, body: { enforcement: "off" } });
    await ask(200, "GET", target, member);
  });

  test("404 for a policy, guardrails, holds and a hold of somebody else", async () => {
    const other = await makeTenant();
    const theirs = `/v1/projects/${other.projectId}/budget-policy`;
    await get([404, "NotFound"], theirs);
    await asOwner([404, "NotFound"], "GET", theirs);
    await asOwner([404, "NotFound"], "PUT", theirs, { enforcement: "off" });
    const named = `organizationId=${other.organizationId}`;
    for (const path of ["guardrails", "holds"]) {
      await get([404, "NotFound"], `/v1/billing/${path}?${named}`);
      await asOwner([404, "NotFound"], "GET", `/v1/billing/${path}?${named}`);
      await get([422, "list"], `/v1/billing/${path}?organizationId=${"x".repeat(65)}`);
    }
    const body = { organizationId: other.organizationId, dailyMicros: 1 };
    await asOwner([404, "NotFound"], "PATCH", "/v1/billing/guardrails", body);
    const holdId = await loseHold(other);
    const resolve = { notCharged: true, note: "Mine?" };
    await asOwner([404, "NotFound"], "POST", `/v1/billing/holds/${holdId}/resolve`, resolve);
    await get([403, "AuthorizationFailed"], `/v1/billing/holds?projectId=${other.projectId}`);
  });

  test("guardrails are changed field by field; a person of several organizations names one", async () => {
    const target = "/v1/billing/guardrails";
    const set = (body: unknown) => asOwner(200, "PATCH", target, body);
    expect((await set({ dailyMicros: 5 })).json).toMatchObject({ dailyMicros: 5, perExecutionMicros: null });
    expect((await set({ perExecutionMicros: 3 })).json).toMatchObject({
      dailyMicros: 5,
      perExecutionMicros: 3,
    });
    expect((await get(200, target)).json.spend).toMatchObject({ settledMicros: 0, availableMicros: 5 });
    await set({ dailyMicros: null, perExecutionMicros: null });
    for (const wrong of [{ dailyMicros: -1 }, { dailyMicros: 0.5 }, { daily: 1 }])
      await asOwner([422, "list"], "PATCH", target, wrong);
    const { headers } = await roled(tenant, "owner");
    const other = await makeTenant();
    const { rows } = await pool.query(
      "SELECT user_id FROM membership WHERE organization_id = $1 ORDER BY user_id DESC LIMIT 1",
      [tenant.organizationId],
    );
    await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'owner')", [
      rows[0].user_id,
      other.organizationId,
    ]);
    await ask([422, "InvalidInput"], "GET", target, { headers });
    await ask([422, "InvalidInput"], "PATCH", target, { headers, body: { dailyMicros: 1 } });
    await ask(200, "GET", `${target}?organizationId=${other.organizationId}`, { headers });
  });

  test("a hold is listed until an owner resolves it, once", async () => {
    const own = await makeTenant();
    const holdId = await loseHold(own);
    const holds = async (query = "") =>
      (await ask(200, "GET", `/v1/billing/holds${query}`, { key: own.key })).json.items;
    expect(await holds("?state=ambiguous")).toMatchObject([{ holdId, state: "ambiguous" }]);
    expect(await holds("?state=open")).toEqual([]);
    const target = `/v1/billing/holds/${holdId}/resolve`;
    const byOwner = await roled(own, "owner");
    for (const wrong of [
      { note: "x" },
      { notCharged: true },
      { notCharged: true, chargedMicros: 1, note: "x" },
      { chargedMicros: -1, note: "x" },
      { notCharged: false, note: "x" },
    ])
      await ask([422, "list"], "POST", target, { ...byOwner, body: wrong });
    const body = { chargedMicros: 21, note: "On the invoice." };
    const blind = (is: boolean) =>
      pool.query(
        "UPDATE job SET is_blind = $2, comparison_id = $3 WHERE id = (SELECT execution_id FROM hold WHERE id = $1)",
        [holdId, is, is ? "cmp_1" : null],
      );
    await blind(true);
    const unjudged = await ask([409, "ComparisonUnjudged"], "POST", target, { ...byOwner, body });
    expect(unjudged.json.detail.details).toEqual({ comparisonId: "cmp_1" });
    await blind(false);
    await ask([403, "AuthorizationFailed"], "POST", target, { ...(await roled(own, "member")), body });
    const { json } = await ask(200, "POST", target, { ...byOwner, body });
    expect(json).toMatchObject({ state: "settled", settledMicros: 21, note: "On the invoice." });
    expect(await holds()).toEqual([]);
    const again = await ask([409, "HoldNotAmbiguous"], "POST", target, { ...byOwner, body });
    expect(again.json.detail.details).toEqual({ state: "settled" });
    const job = await ask(200, "GET", `/v1/jobs/${json.executionId}`, { key: own.key });
    expect(job.json.chargeResolution).toMatchObject({ outcome: "charged", chargedMicros: 21 });
  });
});

describe("billing", () => {
  const asOwner = (wanted: Wanted, method: string, path: string, body?: unknown) =>
    ask(wanted, method, `/v1/billing/${path}`, { ...owner, body });
  const unset = { ...env };
  afterEach(() => {
    Object.assign(env, unset);
  });

  test("the wallet and its transactions are those of the key's organization, whichever it names", async () => {
    const other = await makeTenant();
    for (const path of ["wallet", "wallet/transactions"]) {
      await get(200, `/v1/billing/${path}?organizationId=${tenant.organizationId}`);
      const foreign = await get(
        [404, "NotFound"],
        `/v1/billing/${path}?organizationId=${other.organizationId}`,
      );
      const absent = await get(
        [404, "NotFound"],
        `/v1/billing/${path}?organizationId=${newId("organization")}`,
      );
      expect(foreign.json).toEqual(absent.json);
      await get([422, "list"], `/v1/billing/${path}?organizationId=${"x".repeat(65)}`);
    }
    const { json } = await get(200, "/v1/billing/wallet");
    expect(json).toMatchObject({ organizationId: tenant.organizationId, billingCurrency: "USD" });
  });

  test("transactions come by pages that do not change, of wallet and allowance, without other projects' for a bound key", async () => {
    const own = await makeTenant({ walletMicros: 0 });
    const system = systemCtx("test");
    for (const isTest of [true, false])
      for (const amountMicros of [5_000_000, -1_000_000])
        await credit(system, { organizationId: own.organizationId, amountMicros, isTest, reason: "test" });
    for (const projectId of [own.projectId, own.otherProjectId]) {
      const { json } = await own.post(
        at(TEXT, "jobs"),
        { input, context: { projectId } },
        { key: own.unboundKey },
      );
      await finish(json.jobId);
    }
    const pages = async (key: string, query = "") => {
      const items: { entryId: string; projectId: string | null; amount: { amountMicros: number } }[] = [];
      for (let cursor = ""; ; ) {
        const { json } = await ask(200, "GET", `/v1/billing/wallet/transactions?limit=2${query}${cursor}`, {
          key,
        });
        items.push(...json.items);
        if (!json.nextCursor) return items;
        cursor = `&cursor=${json.nextCursor}`;
      }
    };
    const all = await pages(own.unboundKey);
    expect(all).toHaveLength(6);
    expect(all.map((each) => Number(each.entryId))).toEqual(
      all.map((each) => Number(each.entryId)).sort((a, b) => b - a),
    );
    const bound = await pages(own.key);
    expect(bound.map((each) => each.projectId)).toEqual(
      all.map((each) => each.projectId).filter((id) => id !== own.otherProjectId),
    );
    expect(await pages(own.unboundKey, "&test=true")).toHaveLength(4);
    const live = await pages(own.unboundKey, "&test=false");
    expect(live.map((each) => each.amount.amountMicros)).toEqual([-1_000_000, 5_000_000]);
    for (const wrong of [
      "cursor=x",
      "cursor=-1",
      "cursor=0",
      `cursor=${newId("job")}`,
      "limit=0",
      "limit=201",
      "test=maybe",
    ])
      await get([422, "list"], `/v1/billing/wallet/transactions?${wrong}`);
  });

  test("a person of several organizations names one", async () => {
    const other = await makeTenant();
    const { userId } = await organizations.createUser(systemCtx("test"), {
      email: `${ulid()}@capstan.test`,
      organizationId: tenant.organizationId,
      role: "admin",
      password: "a password of this test",
    });
    await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'owner')", [
      userId,
      other.organizationId,
    ]);
    const headers = { ...owner.headers, cookie: await cookieOf(userId) };
    const top = { headers, body: { amountMicros: 10_000_000 } };
    const refused = await ask([422, "InvalidInput"], "GET", "/v1/billing/wallet", { headers });
    expect(refused.json.detail.details.organizationIds.sort()).toEqual(
      [tenant.organizationId, other.organizationId].sort(),
    );
    await ask([422, "InvalidInput"], "GET", "/v1/billing/plans", { headers });
    await ask([404, "NotFound"], "GET", `/v1/billing/plans?organizationId=${newId("organization")}`, {
      headers,
    });
    await ask([422, "InvalidInput"], "POST", "/v1/billing/wallet/top-up-session", top);
    const target = `organizationId=${other.organizationId}`;
    await ask(200, "GET", `/v1/billing/wallet?${target}`, { headers });
    await ask(200, "POST", `/v1/billing/wallet/top-up-session?${target}`, top);
  });

  test("a top-up answers texts only: where to pay, the session and the payment", async () => {
    const { json } = await asOwner(200, "POST", "wallet/top-up-session", {
      amountMicros: 25_000_000,
      presetKey: "usd_25",
    });
    expect(Object.values(json).every((value) => typeof value === "string")).toBe(true);
    expect(json.paymentId).toMatch(/^pmt_/);
    for (const body of [
      {},
      { amountMicros: 0 },
      { amountMicros: -1 },
      { amountMicros: 1.5 },
      { amountMicros: "1" },
      { amountMicros: 10_000_000, isTest: false },
      { amountMicros: 12_345 },
    ])
      await asOwner([422, "list"], "POST", "wallet/top-up-session", body);
    const wrong = await asOwner([422, "list"], "POST", "wallet/top-up-session", {
      amountMicros: 1_000_000,
      presetKey: "usd_25",
    });
    expect(wrong.json.detail[0].loc).toEqual(["body", "presetKey"]);
  });

  test("people who are no admins change nothing, and nobody finds another organization", async () => {
    const cookie = await sessionOf(tenant.organizationId);
    const other = await makeTenant();
    for (const [method, path, body] of [
      ["POST", "wallet/top-up-session", { amountMicros: 10_000_000 }],
      ["PATCH", "currency", { billingCurrency: "USD" }],
      ["POST", "checkout-session", { planKey: "builder" }],
      ["POST", "portal-session", undefined],
    ] as const) {
      await ask([403, "AuthorizationFailed"], method, `/v1/billing/${path}`, {
        headers: { ...owner.headers, cookie },
        body,
      });
      for (const id of [other.organizationId, newId("organization")])
        await asOwner([404, "NotFound"], method, `${path}?organizationId=${id}`, body);
      await asOwner([422, "list"], method, `${path}?organizationId=${"x".repeat(65)}`, body);
    }
  });

  test("the currency is USD or CAD and answers texts only", async () => {
    const body = { billingCurrency: "CAD", billingCountry: "CA", billingLocale: "en-CA" };
    const { json } = await asOwner(200, "PATCH", "currency", body);
    expect(json).toEqual({ ...body, organizationId: tenant.organizationId });
    expect((await get(200, "/v1/billing/wallet")).json).toMatchObject({
      billingCurrency: "CAD",
      available: { currency: "USD" },
      fx: { baseCurrency: "USD", quoteCurrency: "CAD", source: "development" },
    });
    for (const wrong of [
      {},
      { billingCurrency: "EUR" },
      { billingCurrency: "usd" },
      { ...body, billingCountry: "Canada" },
      { ...body, billingLocale: "no locale" },
    ])
      await asOwner([422, "list"], "PATCH", "currency", wrong);
    await asOwner(200, "PATCH", "currency", { billingCurrency: "USD" });
  });

  test("402 in production where nobody can pay, or not in that currency", async () => {
    env.CAPSTAN_ENV = "production";
    for (const [method, path, body] of [
      ["POST", "wallet/top-up-session", { amountMicros: 10_000_000 }],
      ["PATCH", "currency", { billingCurrency: "CAD" }],
    ] as const)
      await asOwner([402, "billing_not_configured"], method, path, body);
  });

  test("with Stripe the portal opens after the first payment, and no plan is for sale", async () => {
    const stripe = await startStripe();
    try {
      await asOwner([404, "NotFound"], "POST", "portal-session");
      await asOwner([422, "InvalidInput"], "POST", "checkout-session", { planKey: "builder" });
      const { json } = await asOwner(200, "POST", "wallet/top-up-session", { amountMicros: 10_000_000 });
      const { organizationId } = tenant;
      const { raw, signature } = signed(messagesOf({ ...json, organizationId, cents: 1000 }).completed());
      expect(await receiveStripeMessage(raw, signature)).toBe("applied");
      expect((await asOwner(200, "POST", "portal-session")).json.url).toContain("portal.stripe.test");
    } finally {
      await stripe.stop();
    }
  });
});

for (const target of [CHAT, RESPONSES]) {
  describe(`POST ${target} refuses`, () => {
    const words = [{ role: "user", content: "How deep is the sea?" }];
    const ask = (code: ErrorCode, more: object = {}, options: Call = {}) => {
      const conversation = target === CHAT ? { messages: words } : { input: words };
      return post([ERRORS[code].status, code], target, { model: TEXT, ...conversation, ...more }, options);
    };
    const limit = target === CHAT ? "max_completion_tokens" : "max_output_tokens";
    const named = (model: string) => ({ model: `${TEXT}@sandbox/${model}` });
    const structured = (model: string) => ({ model: `${JSON_TEXT}@sandbox/${model}` });
    const { SANDBOX_URL } = env;
    afterEach(() => {
      env.SANDBOX_URL = SANDBOX_URL;
    });

    test("what cannot be planned", async () => {
      const { json } = await ask("UNKNOWN_CAPABILITY", { model: "gpt-4o" });
      expect(json.error.details.nearestMatches).toContain(TEXT);
      const long = [...words, { role: "user", content: "x".repeat(1_000_000) }];
      const tooLong = await ask("PromptTooLong", target === CHAT ? { messages: long } : { input: long });
      expect(tooLong.json.error.param).toBe(`${target === CHAT ? "messages" : "input"}[1].content`);
      const gone = await ask("ROUTE_UNAVAILABLE", named("gone-1"));
      expect(gone.json.error.param).toBe("model");
      const unconnected = await ask("CONNECTION_REQUIRED", { model: "openai/gpt-4.1-mini" });
      expect(unconnected.json.error.details.connectUrl).toContain("/connections");
      await ask("USE_JOBS", { [limit]: 2049 });
      await ask("PROJECT_REQUIRED", {}, { key: tenant.unboundKey });
    });

    test("what may not be paid, or not be asked for", async () => {
      const poor = await makeTenant({ walletMicros: 0 });
      const { json } = await ask("funding_required", {}, { key: poor.key });
      expect(json.error.type).toBe("insufficient_quota");
      const held = await makeTenant();
      const set = await call("PUT", `/v1/projects/${held.projectId}/budget-policy`, {
        headers: await sessionHeaders(held.organizationId, "owner"),
        body: { budgets: [{ period: "total", ceilingUsd: 0, enforcement: "prevent" }] },
      });
      expect(set.status).toBe(200);
      await ask("BudgetExceeded", {}, { key: held.key });
      const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
      const { maturity } = sandbox;
      sandbox.maturity = "PG";
      await settings(tenant.projectId, { maturityRating: "R" });
      try {
        await ask("PolicyRejected");
      } finally {
        sandbox.maturity = maturity;
        await settings(tenant.projectId, {});
      }
    });

    test("one key for two requests", async () => {
      const headers = { "idempotency-key": `of ${target}` };
      await post(200, target, sample(asEndpoint(target)).body, { headers });
      await ask("IdempotencyConflict", { metadata: { a: "b" } }, { headers });
    });

    test.each([
      ["ProviderRejected", named("sandbox-refuse")],
      ["PROVIDER_EMPTY_OUTPUT", named("sandbox-empty")],
      ["PROVIDER_ERROR", named("sandbox-fail")],
      ["TRANSPORT_AMBIGUOUS", named("sandbox-lost")],
      ["OutputLimitReached", { [limit]: 1 }],
      ["StructuredOutputInvalid", structured("sandbox-careless")],
      ["StructuredOutputRepairFailed", structured("sandbox-stubborn")],
      ["ReasoningBudgetExhausted", structured("sandbox-thinker")],
    ] as const)("%s names its record, which can be read", async (code, more) => {
      const { json, headers } = await ask(code, more);
      const { executionId, receiptId } = json.error.details;
      expect(headers["x-execution-id"]).toBe(executionId);
      expect((await get(200, `/v1/jobs/${executionId}/receipt`)).json).toMatchObject({ receiptId });
    });

    test("what was canceled while it ran", async () => {
      const { key } = await makeTenant();
      const running = ask("Cancelled", named("sandbox-slow"), { key });
      const executionId = await vi.waitFor(
        async () => {
          const { json } = await call("GET", "/v1/jobs", { key });
          expect(json.items[0]?.status).toBe("running");
          return json.items[0].jobId as string;
        },
        { timeout: 10_000, interval: 20 },
      );
      await post(200, `/v1/jobs/${executionId}/cancel`, undefined, { key });
      expect((await running).json.error.details).toMatchObject({ executionId });
    });

    test("what cannot be reached", async () => {
      env.SANDBOX_URL = "http://127.0.0.1:1";
      const { headers } = await ask("ProviderUnavailable");
      expect(headers["x-should-retry"]).toBeUndefined(); // nothing was sent
    });
  });
}

test("404 for a model that is none", async () => {
  for (const model of ["gpt-4o", "text.translate.v1", "openai%2Fgpt-4.1-mini", `${TEXT}@sandbox%2Fnone`])
    await get([404, "UNKNOWN_CAPABILITY"], `/v1/models/${model}`);
});

const asEndpoint = (path: string) => endpoints.find((each) => each.path === path)!;

describe("sign-in of devices", () => {
  const start = async (clientName = "capstan on a laptop") =>
    (await ask(200, "POST", "/v1/auth/device/start", { body: { clientName } })).json;
  const redeem = (wanted: Wanted, body: object) => ask(wanted, "POST", "/v1/auth/device/token", { body });

  test("start: 200 in both spellings, without a body too; 422 for a name that hides something", async () => {
    const { json } = await ask(200, "POST", "/v1/auth/device/start");
    expect(json.userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(json).toMatchObject({
      user_code: json.userCode,
      device_code: json.deviceCode,
      verification_uri: json.verificationUri,
      verification_uri_complete: json.verificationUriComplete,
      expires_in: json.expiresIn,
      expiresIn: 900,
      interval: 2,
    });
    expect(json.verificationUriComplete).toBe(`${json.verificationUri}?code=${json.userCode}`);
    for (const clientName of ["", " ", "x".repeat(81), "a\u202eb", "a\nb", 7])
      await ask([422, "list"], "POST", "/v1/auth/device/start", { body: { clientName } });
  });

  test("token: 428 until it is approved, 200 once, then 410; 410 when denied and for a code of nobody", async () => {
    const { ctx } = await makePerson(tenant.organizationId, "member");
    const { userCode, deviceCode } = await start();
    const waiting = await redeem([428, "AuthorizationPending"], { device_code: deviceCode });
    expect(waiting.json.detail.details).toEqual({ interval: 2 });
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    const { json } = await redeem(200, { deviceCode });
    expect(json).toMatchObject({ principalId: ctx.principal.id, appBaseUrl: "http://localhost:3000" });
    const used = await redeem([410, "Gone"], { deviceCode });
    expect(used.json.detail.details).toEqual({ reason: "used" });
    const denied = await start();
    await sessions.decideDevice(ctx, { userCode: denied.userCode, decision: "denied" });
    await redeem([410, "Gone"], { deviceCode: denied.deviceCode });
    await redeem([410, "Gone"], { deviceCode: "of-nobody" });
    for (const body of [{}, { deviceCode: "" }, { deviceCode, device_code: deviceCode }, { deviceCode: 7 }])
      await redeem([422, "list"], body);
  });

  test("a device's token is a person's: it needs no cookie, no origin and no CSRF token, and ends with its session", async () => {
    const { ctx } = await makePerson(tenant.organizationId, "admin");
    const { userCode, deviceCode } = await start();
    await sessions.decideDevice(ctx, { userCode, decision: "approved" });
    const { json } = await redeem(200, { deviceCode });
    const key = json.sessionToken;
    expect(key).toMatch(/^caps_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
    const { items } = (await get(200, "/v1/auth/sessions", { key })).json;
    expect(
      items.map(({ kind, label, isCurrent }: (typeof items)[0]) => [kind, label, isCurrent]),
    ).toContainEqual(["device", "capstan on a laptop", true]);
    const { identity } = (await get(200, "/v1/session/context", { key })).json;
    expect(identity.provider).toBe("device");
    const body = { name: "made by a device", projectId: tenant.projectId };
    await ask(200, "POST", "/v1/api-keys", { key, body });
    await ask([403, "AuthorizationFailed"], "POST", at(TEXT, "jobs"), { key, body: { input } });
    const end = `/v1/auth/sessions/${json.sessionId}`;
    await ask([404, "NotFound"], "DELETE", end, owner);
    expect((await ask(200, "DELETE", end, { key })).json).toEqual({
      sessionId: json.sessionId,
      revoked: true,
    });
    await get([401, "AuthenticationFailed"], "/v1/auth/sessions", { key });
  });
});

describe("usage", () => {
  const summary = "/v1/billing/summary";
  const file = "/v1/billing/usage-export";

  test("the last 7 to 90 days are summed up, live and test apart; 422 outside", async () => {
    const { json } = await get(200, summary);
    expect(json).toMatchObject({ days: 30, projectId: tenant.projectId, currency: "USD" });
    expect(json.live.totals.executions).toBeGreaterThan(0); // what runs here, free
    expect(json.test.totals.executions).toBeGreaterThan(5);
    expect(json.test.byDay.length).toBe(30);
    for (const days of ["7", "90"]) expect((await get(200, `${summary}?days=${days}`)).json.days).toBe(+days);
    for (const days of ["6", "91", "many", "7.5", ""]) {
      const refused = await get([422, "list"], `${summary}?days=${days}`);
      expect(refused.json.detail[0].loc).toEqual(["query", "days"]);
    }
  });

  test("403 for a project or an organization of somebody else", async () => {
    for (const target of [summary, `${file}?from=2026-01-01&to=2026-01-02`]) {
      const more = target.includes("?") ? "&" : "?";
      await get([403, "AuthorizationFailed"], `${target}${more}projectId=${newId("project")}`);
      await get([403, "AuthorizationFailed"], `${target}${more}projectId=${tenant.otherProjectId}`);
      await get([403, "AuthorizationFailed"], `${target}${more}organizationId=${newId("organization")}`);
    }
  });

  test("an export is a file of lines that end as RFC 4180 says; 422 for days it cannot be of", async () => {
    const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const to = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const { headers, text } = await get(200, `${file}?from=${from}&to=${to}`);
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="usage-${from}-${to}.csv"`,
    });
    expect(text).toMatch(/^BilledCost,EffectiveCost,.*\r\n/);
    expect(text).toContain(done);
    expect(text).not.toContain(queued);
    for (const [query, field] of [
      ["", "from"],
      ["from=2026-01-01", "to"],
      ["from=2026-01-01&to=2026-01-01", "to"],
      ["from=2026-01-02&to=2026-01-01", "to"],
      ["from=2026-01-01&to=2026-12-31", "to"],
      ["from=2026-02-30&to=2026-03-01", "from"],
      ["from=yesterday&to=2026-03-01", "from"],
    ]) {
      const { json } = await get([422, "list"], `${file}?${query}`);
      expect(json.detail[0].loc).toEqual(["query", field]);
    }
  });
});

describe("panels", () => {
  test("what is not there, or is another tenant's, is 404; a list is of a project there can be", async () => {
    const stranger = (await makeTenant()).key;
    const { id } = await definePanel(tenant);
    const { sessionId } = await openPanel(tenant);
    for (const [key, panel, session] of [
      [tenant.key, newId("panelDefinition"), newId("panelSession")],
      [stranger, id, sessionId],
    ] as const) {
      const missing = [404, "NotFound"] as const;
      const [of, at] = [`/v1/panel-definitions/${panel}`, `/v1/panel-sessions/${session}`];
      await ask([...missing], "GET", of, { key });
      await ask([...missing], "PATCH", of, { key, body: { displayName: "Mine" } });
      await ask([...missing], "GET", at, { key });
      await ask([...missing], "POST", `${at}/revoke`, { key, body: {} });
      await ask([...missing], "POST", `${at}/launch-codes`, { key, body: {} });
    }
    await get([422, "list"], "/v1/panel-definitions?projectId=");
  });

  test("a session that has ended gives no launch code, and its page nothing", async () => {
    const { sessionId, accessToken, as } = await openPanel(tenant);
    await get(200, "/v1/panel/bootstrap", as());
    await get([403, "CrossSiteRequest"], "/v1/panel/bootstrap", { key: accessToken });
    await get([403, "AuthorizationFailed"], "/v1/panel/bootstrap", { key: tenant.key });
    await post(200, `/v1/panel-sessions/${sessionId}/revoke`, {});
    await post([410, "Gone"], `/v1/panel-sessions/${sessionId}/launch-codes`, {});
    await get([401, "AuthenticationFailed"], "/v1/panel/bootstrap", as());
  });
});

/** Statuses no request of these tests can bring about, with the reason. */
const OUT_OF_REACH: Partial<Record<ErrorCode, string>> = {
  InternalFailure: "what nobody expected; the kernel's own tests throw it",
  EstimateUnavailable: "every listed model has a price for every request its capability accepts",
  InvalidInput: "no capability refuses an input that its schema accepted",
};

/** Of OpenAI's endpoints, which have no field for it: a limit of time is the capability's own, of a minute and more. */
const isTimeLimit = (endpoint: Endpoint, code: ErrorCode) =>
  endpoint.refusals !== undefined && code === "ExecutionTimeout";

function statusesOf(endpoint: Endpoint): number[] {
  const codes: ErrorCode[] = [...endpoint.errors, "AuthenticationFailed", "RateLimited"];
  if (!endpoint.auth.includes("anonymous")) codes.push("AuthorizationFailed");
  if (endpoint.body) codes.push("PayloadTooLarge", "UnsupportedMediaType", "InvalidInput");
  if (endpoint.params || endpoint.query) codes.push("InvalidInput");
  const isTagged =
    /^.(v1.capabilities|.well-known)/.test(endpoint.path) &&
    !endpoint.path.includes("/comparisons/") &&
    endpoint.method === "GET";
  const rawType = "rawMediaType" in endpoint.output ? endpoint.output.rawMediaType : null;
  const isFile = rawType !== null && !["text/event-stream", "text/csv"].includes(rawType);
  if (endpoint.path === "/v1/billing/checkout-session")
    return [...new Set(codes.map((code) => ERRORS[code].status))];
  const own = isFile ? [200, 206, 304] : isTagged ? [200, 304] : [good(endpoint)];
  return [...new Set([...own, ...codes.map((code) => ERRORS[code].status)])];
}

test("every status every endpoint can answer has a case, and so has every code it declares", () => {
  const missing = endpoints.flatMap((endpoint) => [
    ...statusesOf(endpoint)
      .map((status) => `${nameOf(endpoint)} ${status}`)
      .filter((each) => !seen.has(each)),
    ...endpoint.errors
      .filter((code) => !(code in OUT_OF_REACH) && !isTimeLimit(endpoint, code))
      .map((code) => `${nameOf(endpoint)} ${code}`)
      .filter((each) => !seenCodes.has(each)),
  ]);
  expect(missing).toEqual([]);
});
