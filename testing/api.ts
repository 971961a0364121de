import { router } from "@/server/api/router";
import { SCOPES } from "@/server/contract/enums";
import type { Job } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import { type Ctx, type Scope, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as organizations from "@/server/domain/organizations";
import { endpoints } from "@/server/operations";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { Form } from "./forms";
import { cookieOf } from "./sessions";
import { fund, inlineStep, testClock } from "./world";

const route = router(endpoints);

export type Call = {
  key?: string;
  /** The body is sent as JSON, except that a Uint8Array, a string or a form is sent unchanged. */
  body?: unknown;
  /** The body as a stream, for tests of how it arrives. */
  stream?: AsyncIterable<Uint8Array>;
  headers?: Record<string, string>;
  /** Headers with several lines, each with one character per byte (Latin-1), as Node reads them. */
  lines?: Record<string, string[]>;
  /** The caller's address, by which anonymous requests are limited; by default each call has its own. */
  address?: string;
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads bodies of every shape
type Body = any;

/** A response as a client sees it. */
export type Answer = {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
  /** The body as text; `json` is the parsed body of an application/json response. */
  text: string;
  json: Body;
};

/** Sends one request through the router of /v1, as the web process does. */
export async function call(method: string, target: string, options: Call = {}): Promise<Answer> {
  const url = new URL(target, "http://capstan.test");
  const form = options.body instanceof Form ? options.body : undefined;
  const given = form ? form.bytes : options.body;
  const isRaw = typeof given === "string" || given instanceof Uint8Array;
  const sent = given === undefined || isRaw ? given : JSON.stringify(given);
  const bytes = sent === undefined ? null : Buffer.from(sent as string | Uint8Array); // the other types were handled above
  const headers: Record<string, string> = {
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    ...(bytes ? { "content-type": "application/json", "content-length": String(bytes.byteLength) } : {}),
    ...options.headers,
    ...(form ? { "content-type": form.contentType } : {}),
  };
  const answer = await route({
    method,
    path: url.pathname,
    query: url.searchParams,
    header: (name) => options.lines?.[name]?.join(", ") ?? headers[name],
    lines: (name) => options.lines?.[name] ?? (headers[name] === undefined ? [] : [headers[name]]),
    body: options.stream ?? (bytes && chunks(bytes)),
    params: {},
    address: options.address ?? newId("request"),
    signal: new AbortController().signal,
  });
  const body = await collect(answer.body);
  const text = body.toString("utf8");
  const isJson = answer.headers["content-type"] === "application/json" && text !== "";
  return {
    status: answer.status,
    headers: answer.headers,
    bytes: body,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

async function* chunks(bytes: Buffer): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function collect(body: string | Uint8Array | AsyncIterable<Uint8Array> | null): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.from(body as string);
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

export type Tenant = {
  organizationId: string;
  /** The project that the key is bound to; `otherProjectId` is another one of the same organization. */
  projectId: string;
  otherProjectId: string;
  key: string;
  /** A key of the whole organization, which names its project in each request. */
  unboundKey: string;
  get(target: string, options?: Call): Promise<Answer>;
  post(target: string, body?: unknown, options?: Call): Promise<Answer>;
};

const system = systemCtx("test");

/** An organization with two projects and keys of every scope, created as the admin command does. */
export async function makeTenant({ walletMicros = 1_000_000_000 } = {}): Promise<Tenant> {
  const { organizationId } = await organizations.createOrganization(system, { name: "Tenant" });
  await fund(organizationId, walletMicros);
  const { projectId } = await organizations.createProject(system, { name: "One", organizationId });
  const other = await organizations.createProject(system, { name: "Two", organizationId });
  const scopes = [...SCOPES];
  const key = await makeKey({ projectId, scopes });
  const unboundKey = await makeKey({ organizationId, scopes });
  return {
    organizationId,
    projectId,
    otherProjectId: other.projectId,
    key,
    unboundKey,
    get: (target, options) => call("GET", target, { key, ...options }),
    post: (target, body, options) => call("POST", target, { key, body, ...options }),
  };
}

/** The session cookie of a new member of an organization. */
export async function sessionOf(
  organizationId: string,
  role: "owner" | "admin" | "member" | "viewer" = "member",
): Promise<string> {
  const { userId } = await organizations.createUser(system, {
    email: `${newId("user")}@capstan.test`,
    organizationId,
    role,
    password: "a password of this test",
  });
  return cookieOf(userId);
}

/** The headers that a browser of such a person sends with a change. */
export async function sessionHeaders(organizationId: string, role: "owner" | "admin" | "member" | "viewer") {
  const cookie = await sessionOf(organizationId, role);
  return { cookie, origin: "http://localhost:3000", "content-type": "application/json" };
}

/** Submits a job that waits for approval: the project's threshold is zero while it is submitted. */
export async function submitWaiting(tenant: Tenant, key: string, body: unknown): Promise<Job> {
  const set = (micros: number | null) =>
    pool.query("UPDATE project SET approval_threshold_micros = $2 WHERE id = $1", [tenant.projectId, micros]);
  await set(0);
  const { json } = await tenant.post(`/v1/capabilities/${key}/jobs`, body);
  await set(null);
  return json;
}

/** The text of a new key. `agedMs` makes it that much older, so that a short-lived one has expired. */
export async function makeKey(wanted: {
  projectId?: string;
  organizationId?: string;
  environment?: string;
  scopes?: Scope[];
  expiresInSeconds?: number;
  agedMs?: number;
}): Promise<string> {
  return (await makeKeyWithId(wanted)).apiKey;
}

export async function makeKeyWithId({
  agedMs = 0,
  ...wanted
}: Parameters<typeof makeKey>[0]): Promise<{ apiKey: string; keyId: string }> {
  const ctx = systemCtx("test", () => new Date(Date.now() - agedMs));
  return organizations.createKey(ctx, { name: "test", environment: "development", ...wanted });
}

/** The context of requests with this key. */
export async function keyCtx(apiKey: string, now?: () => Date): Promise<Ctx> {
  const principal = await access.keyPrincipal(apiKey, new Date());
  if (!principal) throw new Error("the key is not good");
  return { ...systemCtx("test", now), principal };
}

export const revokeKey = (keyId: string) => organizations.revokeKey(system, keyId);

/** Runs a submitted job to its end, as the durable engine does. */
export async function finish(jobId: string): Promise<Job> {
  const clock = testClock();
  await jobs.run(systemCtx("worker", clock.now), jobId, inlineStep(clock));
  return jobs.get(system, jobId);
}
