import type { z } from "zod";
import type { Endpoint } from "@/server/api/endpoint";
import { callTool, tools } from "@/server/api/mcp/call";
import { capabilities } from "@/server/capabilities/registry.gen";
import { InvokeRequest, JobRequest, QuoteRequest } from "@/server/contract/envelope";
import { PinnedBulkRequest, PinnedRequest } from "@/server/contract/pinned";
import { Lockfile } from "@/server/contract/provenance";
import { endpoints } from "@/server/operations";
import { ulid } from "@/server/platform/ids";
import { appRouter } from "@/server/trpc";
import { servePanel } from "@/server/trpc/serve";
import { call } from "../api";
import { Form, uploadOf, whiteSquare } from "../forms";
import type { Caller, Estate } from "./estate";
import { toNode } from "./schema";

/** A response as the caller sees it. */
export type Answer = { status: number; text: string; headers: Record<string, string> };

type Node = ReturnType<typeof toNode>;
export type Part = "params" | "query" | "body" | "headers";
export type Sent = Partial<Record<Part, Record<string, unknown>>>;

/** One operation, through any interface. */
export type Operation = {
  name: string;
  /** The schema of each part of the request. */
  parts: Partial<Record<Part, Node>>;
  /** True if the operation ends or replaces an object, so that a later request needs another one. */
  isDestructive: boolean;
  isFor(caller: Caller): boolean;
  send(caller: Caller, sent: Sent): Promise<Answer>;
};

const TEXT = "text.general.fast.v1";
const MATH = "compute.evaluate.v1";

/** An object with text fields of these names. */
const texts = (names: readonly string[]): Node => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

/** An envelope whose input is that of one capability. */
function envelope(schema: z.ZodType, capabilityKey: string): Node {
  const found = capabilities.find(({ key }) => key === capabilityKey);
  if (!found) throw new Error(`there is no ${capabilityKey}`);
  const [outer, input] = [toNode(schema), toNode(found.input)];
  return {
    ...outer,
    $defs: { ...outer.$defs, ...input.$defs },
    properties: { ...outer.properties, input },
    required: [...(outer.required ?? []), "input"],
  };
}

/** The first example of a capability's input, with an existing artifact in place of each artifact id. */
const exampleOf = (capabilityKey: string, artifactId: string) => {
  const example = capabilities.find(({ key }) => key === capabilityKey)?.examples[0]?.input;
  return JSON.parse(JSON.stringify(example ?? {}).replaceAll(/"art_\w+"/g, JSON.stringify(artifactId)));
};

const within = (name: string, inner: Node, outer: Node): Node => ({
  ...outer,
  $defs: { ...outer.$defs, ...inner.$defs },
  properties: { ...outer.properties, [name]: inner },
});

/** Schemas of bodies that the endpoint itself accepts as any object, by operation and field. */
const BODIES: Record<string, [field: string, schema: Node][]> = {
  "POST /v1/capabilities/{capability_key}/invoke": [["", envelope(InvokeRequest, MATH)]],
  "POST /v1/capabilities/image.generate.v1/plan": [["", envelope(JobRequest, "image.generate.v1")]],
  "POST /v1/inference/pinned": [["", toNode(PinnedRequest)]],
  "POST /v1/inference/pinned/bulk": [["", toNode(PinnedBulkRequest)]],
  "POST /v1/provenance/lockfile/verify": [["", toNode(Lockfile)]],
  "trpc catalog.invoke": [["body", envelope(InvokeRequest, MATH)]],
  "trpc catalog.submit": [["body", envelope(JobRequest, TEXT)]],
  "trpc catalog.quote": [["body", envelope(QuoteRequest, TEXT)]],
  "trpc pinned.run": [["body", toNode(PinnedRequest)]],
  "trpc provenance.verifyLockfile": [["body", toNode(Lockfile)]],
  "mcp quote_capability": [["request", envelope(QuoteRequest, TEXT)]],
  "mcp invoke": [["request", envelope(InvokeRequest, MATH)]],
  "mcp submit_job": [["request", envelope(JobRequest, TEXT)]],
  "mcp pinned_run": [["request", toNode(PinnedRequest)]],
  "mcp pinned_bulk": [["request", toNode(PinnedBulkRequest)]],
  "mcp verify_lockfile": [["lockfile", toNode(Lockfile)]],
};

/** Operations that are listed once for each capability, with the schema of the capability's input. */
const EVERY_CAPABILITY = [
  ["POST /v1/capabilities/{capability_key}/quote", QuoteRequest],
  ["POST /v1/capabilities/{capability_key}/estimate", QuoteRequest],
  ["POST /v1/capabilities/{capability_key}/jobs", JobRequest],
] as const;

/** Headers of an endpoint that can name an object. */
const headersOf = ({ path, refusals, idempotent }: Endpoint): string[] => [
  ...(refusals ? ["openai-project"] : []),
  ...(path.endsWith("/events") ? ["last-event-id"] : []),
  ...(idempotent ? ["idempotency-key"] : []),
];

const paramsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

function* endpointOperations(endpoint: Endpoint): Generator<Operation> {
  const { method, path, auth } = endpoint;
  const name = `${method} ${path}`;
  const params = paramsOf(path);
  const headers = headersOf(endpoint);
  const parts: Operation["parts"] = {
    ...(params.length > 0 ? { params: texts(params) } : {}),
    ...(endpoint.query ? { query: toNode(endpoint.query) } : {}),
    ...(endpoint.body ? { body: BODIES[name]?.[0]?.[1] ?? toNode(endpoint.body) } : {}),
    ...(endpoint.form ? { body: toNode(endpoint.form) } : {}),
    ...(headers.length > 0 ? { headers: texts(headers) } : {}),
  };
  const operation: Operation = {
    name,
    parts,
    isDestructive: method === "DELETE" || /\/(revoke|rotate|cancel|reject)$/.test(path),
    isFor: ({ kind }) => auth.some((each) => each === kind),
    async send({ http }, sent) {
      const target = params.reduce(
        (made, param) => made.replace(`{${param}}`, encodeURIComponent(String(sent.params?.[param] ?? ""))),
        path,
      );
      const query = new URLSearchParams(
        Object.entries(sent.query ?? {}).flatMap(([field, given]) =>
          (Array.isArray(given) ? given : [given]).map((value): [string, string] => [field, String(value)]),
        ),
      );
      const given = endpoint.form ? formOf(endpoint.form, flat(sent.body)) : sent.body;
      const { status, text, headers } = await call(method, query.size > 0 ? `${target}?${query}` : target, {
        ...http,
        // A browser sends its changes as JSON, with or without a body.
        ...(given === undefined || method === "GET" ? {} : { body: given }),
        headers: { ...http.headers, ...(sent.headers as Record<string, string> | undefined) }, // header values are texts
      });
      return { status, text, headers };
    },
  };
  const envelopes = EVERY_CAPABILITY.find(([each]) => each === name);
  if (!envelopes) yield operation;
  else
    for (const { key } of capabilities)
      yield {
        ...operation,
        name: `${name} of ${key}`,
        parts: { ...parts, body: envelope(envelopes[1], key) },
        send: (caller, sent) =>
          operation.send(caller, { ...sent, params: { ...sent.params, capability_key: key } }),
      };
}

/** A form with its file: a picture if the form takes one, else weights. */
const formOf = (form: z.ZodObject, fields: Record<string, string>) =>
  "image" in form.shape
    ? new Form([...Object.entries(fields), ["image", { filename: "a.png", bytes: whiteSquare() }]])
    : uploadOf(undefined, fields);

const FILES = ["file", "image", "image[]", "mask"];
const flat = (fields: Record<string, unknown> = {}) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !FILES.includes(name))
      .map(([name, value]) => [name, String(value)]),
  );

type Procedure = { _def: { type: "query" | "mutation" | "subscription"; inputs: z.ZodType[] } };

function panelOperation([path, { _def }]: [string, Procedure]): Operation {
  const name = `trpc ${path}`;
  const made = _def.inputs.map(toNode).reduce<Node>(
    (all, one) => ({
      type: "object",
      $defs: { ...all.$defs, ...one.$defs },
      properties: { ...all.properties, ...one.properties },
      required: [...(all.required ?? []), ...(one.required ?? [])],
      ...(one.allOf || all.allOf ? { allOf: [...(all.allOf ?? []), ...(one.allOf ?? [])] } : {}),
    }),
    { type: "object" },
  );
  const body = (BODIES[name] ?? []).reduce((outer, [field, inner]) => within(field, inner, outer), made);
  return {
    name,
    parts: _def.inputs.length > 0 ? { body } : {},
    isDestructive: /remove|revoke|rotate|cancel|reject|unbind|withdraw|\.end/i.test(path),
    isFor: ({ kind }) => kind === "human_session",
    async send({ ctx }, { body: input }) {
      const url = new URL(`/api/trpc/${path}`, "http://127.0.0.1:3000");
      const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
      const isChange = _def.type === "mutation";
      if (!isChange && input) url.searchParams.set("input", JSON.stringify(input));
      const request = new Request(url, {
        method: isChange ? "POST" : "GET",
        headers,
        ...(isChange ? { body: JSON.stringify(input ?? {}) } : {}),
      });
      const answer = await servePanel(request, async () => ctx);
      return {
        status: answer.status,
        text: await answer.text(),
        headers: Object.fromEntries(answer.headers),
      };
    },
  };
}

function toolOperation({ name: tool, input }: (typeof tools)[number]): Operation {
  const name = `mcp ${tool}`;
  const body = (BODIES[name] ?? []).reduce(
    (outer, [field, inner]) => within(field, inner, outer),
    toNode(input),
  );
  return {
    name,
    parts: { body },
    isDestructive: tool === "cancel_job",
    isFor: ({ kind }) => kind === "service_principal",
    async send({ ctx }, { body: given }) {
      const io = { signal: new AbortController().signal, progress: async () => undefined };
      const answer = await callTool(ctx, tool, given ?? {}, io);
      return { status: answer.isError ? 400 : 200, text: JSON.stringify(answer.content), headers: {} };
    },
  };
}

/** Every operation: the endpoints of /v1, the procedures of the panel, the tools of MCP. */
export const operations: readonly Operation[] = [
  ...endpoints.flatMap((endpoint) => [...endpointOperations(endpoint)]),
  // The router's types do not list its procedures by name.
  ...Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>).map(panelOperation),
  ...tools.map(toolOperation),
];

/** Values for operations whose smallest valid request would not do. A new operation may need a row here. */
export function sampleOf(name: string, estate: Estate): Sent {
  const { ids, mark } = estate;
  const [base = "", capabilityKey] = name.split(" of ");
  if (capabilityKey) return { body: { input: exampleOf(capabilityKey, ids.artifact) } };
  const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
  const competitors = [1, 2].map((n) => ({ axis: "provider", providerPin: `sandbox/sandbox-${n}` }));
  const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
  const source = { kind: "service_artifact", ref: "art_none" };
  const image = { params: { capability_key: "image.generate.v1" } };
  const hashes = { receiptIds: [ids.receipt] };
  const rows: Record<string, Sent> = {
    "POST /v1/connections/{connection_id}/rotate": { body: { secret: "sk-of-this-test-alone" } },
    "POST /v1/delivery-endpoints": { body: { secret: "a secret of these tests alone" } },
    "trpc webhooks.create": { body: { secret: "a secret of these tests alone" } },
    "POST /v1/billing/holds/{hold_id}/resolve": { body: { notCharged: true, note: "Looked." } },
    "trpc budgets.resolve": { body: { notCharged: true, note: "Looked." } },
    "POST /v1/adapter-aliases": { body: { alias: `made ${ulid()}` } },
    "trpc adapters.createAlias": { body: { alias: `made ${ulid()}` } },
    "GET /v1/adapter-defaults/{capability_key}": image,
    "PUT /v1/adapter-defaults/{capability_key}": image,
    "DELETE /v1/adapter-defaults/{capability_key}": image,
    "trpc adapters.setDefault": { body: image.params },
    "trpc adapters.clearDefault": { body: image.params },
    "GET /v1/models/{model}": { params: { model: "sandbox/sandbox-1" } },
    "POST /v1/provenance/manifests": { body: hashes },
    "trpc provenance.createManifest": { body: hashes },
    "mcp manifest_create": { body: { manifest: { label: "x", ...hashes } } },
    "POST /v1/capabilities/image.generate.v1/plan": {
      body: { input: exampleOf("image.generate.v1", ids.artifact) },
    },
    "mcp quote_capability": { body: { request: { input } } },
    "mcp submit_job": { body: { request: { input } } },
    "trpc catalog.quote": { body: { body: { input } } },
    "trpc catalog.submit": { body: { body: { input } } },
    "GET /v1/projects/{project_id}/jobs": { query: { limit: 100 } },
    "POST /v1/inference/pinned": { body: { pin, input: "How deep?" } },
    "POST /v1/inference/pinned/bulk": { body: { pin, items: [{ id: "one", input: "How deep?" }] } },
    "POST /v1/capabilities/{capability_key}/comparisons": { body: { context: {}, competitors, input } },
    "POST /v1/capabilities/{capability_key}/comparisons/estimate": { body: { competitors, input } },
    "POST /v1/comparisons/{comparison_id}/judgements": {
      body: { decision: "winner", overallWinnerEntryId: ids.entry },
    },
    "trpc comparisons.judge": { body: { decision: "winner", overallWinnerEntryId: ids.entry } },
    "trpc comparisons.create": { body: { body: { context: {}, competitors, input } } },
    "trpc comparisons.estimate": { body: { body: { competitors, input } } },
    "trpc embeds.define": { body: { key: `made-${ulid()}` } },
    "POST /v1/panel-definitions": { body: { key: `made-${ulid()}` } },
    "POST /v1/adapters": { body: { displayName: "One", baseModelFamily: "flux", source } },
    "trpc adapters.register": { body: { displayName: "One", baseModelFamily: "flux", source } },
    "POST /v1/provenance/lockfile/verify": { body: estate.lockfile as Record<string, unknown> },
    "trpc provenance.verifyLockfile": { body: { body: estate.lockfile } },
    "mcp verify_lockfile": { body: { lockfile: estate.lockfile } },
    "mcp wait_job": { body: { timeout_seconds: 1 } },
    "mcp pinned_run": { body: { request: { pin, input: "How deep?" } } },
    "mcp pinned_bulk": { body: { request: { pin, items: [{ id: "one", input: "How deep?" }] } } },
    "trpc pinned.run": { body: { body: { pin, input: "How deep?" } } },
    "trpc catalog.invoke": { body: { capability_key: MATH, body: { input: exampleOf(MATH, ids.artifact) } } },
    "mcp invoke": { body: { capability_key: MATH, request: { input: exampleOf(MATH, ids.artifact) } } },
    "POST /v1/capabilities/{capability_key}/invoke": {
      params: { capability_key: MATH },
      body: { input: exampleOf(MATH, ids.artifact) },
    },
    "PATCH /v1/projects/{project_id}": {
      body: { environments: [{ id: ids.environment, displayName: mark }] },
    },
    "trpc organizations.changeProject": {
      body: { environments: [{ id: ids.environment, displayName: mark }] },
    },
  };
  return rows[base] ?? {};
}
