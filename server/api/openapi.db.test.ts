import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { z } from "zod";
import { allCapabilities, publish } from "@/server/domain/catalog";
import { endpoints } from "@/server/operations";
import { VERSION } from "@/server/platform/settings/version";
import { makeTenant } from "@/testing/api";
import { incoming, jsonOf } from "@/testing/requests";
import { type Endpoint, endpoint, raw } from "./endpoint";
import { TEXT_HEADERS } from "./header-lines";
import { tools } from "./mcp/call";
import { documentAnswer, documentText } from "./openapi/document";
import { type OpenApi, openapi, parametersIn, responseOf } from "./openapi/openapi";

const COMMITTED = resolve(import.meta.dirname, "../../docs/openapi.json");

test("the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(JSON.parse(documentText().text));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

test("every reference resolves", () => {
  const { text } = documentText();
  const components: Record<string, object> = openapi(endpoints).components;
  for (const [, kind = "", name = ""] of text.matchAll(/"#\/components\/([^/]+)\/([^"]+)"/g))
    expect(Object.keys(components[kind] ?? {})).toContain(name);
  expect(text).not.toContain("#/$defs/");
});

test("every component has the name that its schema gives it", { tags: "long" }, () => {
  const { schemas } = openapi(endpoints).components;
  expect(Object.keys(schemas).filter((name) => name.startsWith("__"))).toEqual([]);
  expect(schemas.JsonValue).toEqual({ description: "Any JSON value." });
});

test("docs/openapi.json is this document: a change of the API is a change of that file", () => {
  const text = `${JSON.stringify(openapi(endpoints), null, 2)}\n`;
  if (process.env.UPDATE_OPENAPI) writeFileSync(COMMITTED, text);
  expect(existsSync(join(COMMITTED))).toBe(true);
  // UPDATE_OPENAPI=1 npx vitest run server/api/openapi.db.test.ts writes this file.
  expect(readFileSync(COMMITTED, "utf8")).toBe(text);
});

test("the document states the version, the key scheme, and the errors of each operation", () => {
  const document = openapi(endpoints);
  expect(document.info.version).toBe(VERSION);
  expect(document.components.securitySchemes.ApiKey).toMatchObject({ type: "http", scheme: "bearer" });
  const submit = document.paths["/v1/capabilities/{capability_key}/jobs"]?.post;
  expect([document.security, submit?.security]).toEqual([[{ ApiKey: [] }], undefined]);
  expect(Object.keys(submit?.responses ?? {})).toEqual(
    expect.arrayContaining(["200", "401", "402", "403", "404", "409", "413", "415", "422", "429", "500"]),
  );
  expect(document.paths["/v1/capabilities"]?.get?.security).toEqual([{}, { ApiKey: [] }]);
});

test("the document states ranges, 304 responses, the media types of files, and the 403 for cross-site requests", () => {
  const document = openapi(endpoints);
  const { paths } = document;
  const ofGet = (path: string) => paths[path]?.get?.responses ?? {};
  const answerOf = (path: string, status: string) => responseOf(document, paths[path]?.get, status);
  for (const path of ["/v1/artifacts/{artifact_id}", "/v1/jobs/{job_id}/artifacts/{artifact_id}"]) {
    expect(Object.keys(ofGet(path))).toEqual(expect.arrayContaining(["200", "206", "304", "416"]));
    for (const status of ["200", "206"])
      expect(Object.keys(answerOf(path, status)?.content ?? {})).toEqual(
        expect.arrayContaining(["application/octet-stream", "image/png", "audio/mpeg", "application/json"]),
      );
  }
  const weights = Object.keys(ofGet("/v1/adapter-weights/{weights_link}"));
  expect(weights).toEqual(expect.arrayContaining(["200", "206", "304", "416"]));
  expect(ofGet("/v1/capabilities")["304"]).not.toHaveProperty("content");
  const exchange = paths["/v1/panel/launch-codes/exchange"]?.post;
  expect(responseOf(document, exchange, "403")?.description).toContain("CrossSiteRequest");
});

type Published = {
  $ref?: string;
  description?: string;
  default?: unknown;
  properties?: Record<string, Published>;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  anyOf?: Published[];
  items?: Published;
  minimum?: number;
  maximum?: number;
};

/** Sample values of a parameter, as a query spells them. Empty for a pattern, which only the field itself can check. */
function valuesOf(schema: Published): unknown[] {
  if (schema.anyOf) return schema.anyOf.flatMap(valuesOf);
  if (schema.enum) return schema.enum.map(String);
  if (schema.type === "array") return valuesOf(schema.items ?? {}).map((value) => [value]);
  if (schema.type === "boolean") return ["true", "false"];
  if (schema.type === "number") return ["0.01"];
  if (schema.type === "integer")
    return [schema.minimum, schema.maximum].filter((bound) => bound !== undefined).map(String);
  if (schema.pattern !== undefined) return [];
  if (schema.format === "date") return ["2026-02-28"];
  return schema.format === "date-time" ? ["2026-02-28T10:00:00Z"] : ["x"];
}

test("every endpoint accepts the query values that the document allows", () => {
  const document = openapi(endpoints);
  const refused = endpoints.flatMap(({ method, path, query }) =>
    parametersIn(document, document.paths[path]?.[method.toLowerCase()])
      .filter((parameter) => parameter.in === "query")
      .flatMap(({ name, schema }) =>
        valuesOf(schema)
          .filter((value) => !query?.shape[name].safeParse(value).success)
          .map((value) => `${method} ${path}?${name}=${value}`),
      ),
  );
  expect(refused).toEqual([]);
});

test("operations with a body list 408 and 415, and writes of a browser session list 415 even without a body", () => {
  const { paths } = openapi(endpoints);
  for (const { method, path, auth, body, form, rawBody } of endpoints) {
    const documented = Object.keys(paths[path]?.[method.toLowerCase()]?.responses ?? {});
    const hasBody = Boolean(body ?? form ?? rawBody);
    const isChange = method !== "GET" && auth.includes("human_session");
    expect([documented.includes("408"), documented.includes("415")], `${method} ${path}`).toEqual([
      hasBody,
      hasBody || isChange,
    ]);
  }
});

test("a trimmed text may not be blank, and the document says so", () => {
  const taken = endpoint({
    method: "POST",
    path: "/v1/taken",
    summary: "",
    auth: ["anonymous"],
    body: z.object({ name: z.string().trim().min(1), text: z.string().min(1), note: z.string().trim() }),
    output: z.json(),
    errors: [],
    run: async () => null,
  });
  const { post } = openapi([taken]).paths["/v1/taken"] ?? {};
  expect(post?.requestBody?.content["application/json"]?.schema).toMatchObject({
    properties: {
      name: { type: "string", minLength: 1, pattern: "\\S" },
      text: expect.not.objectContaining({ pattern: expect.anything() }),
      note: expect.not.objectContaining({ pattern: expect.anything() }),
    },
  });
});

const IMAGE = "/v1/capabilities/image.generate.v1";
const VERIFICATION = "/v1/capabilities/document.verify.v1";

test.each([
  [`${IMAGE}/quote`, "quote"],
  [`${IMAGE}/estimate`, "estimate"],
  [`${IMAGE}/jobs`, "jobs"],
  [`${VERIFICATION}/invoke`, "invoke"],
  [`${VERIFICATION}/jobs`, "jobs"],
])(
  "the dedicated route %s accepts and returns what the route of all capabilities does",
  async (path, verb) => {
    const { paths } = openapi(endpoints);
    const [own, all] = [paths[path]?.post, paths[`/v1/capabilities/{capability_key}/${verb}`]?.post];
    expect(own?.requestBody?.content["application/json"]?.schema).toEqual(
      all?.requestBody?.content["application/json"]?.schema,
    );
    expect(own?.responses["200"]).toEqual(all?.responses["200"]);
    expect(own?.parameters).toEqual(
      all?.parameters.filter((each) => !JSON.stringify(each).includes("capability_key")),
    );
    const tenant = await makeTenant();
    const body = own?.requestBody?.content["application/json"]?.example;
    expect((await tenant.post(path, body)).status).toBe(200);
  },
);

/** Every schema in a value, with its place. */
function* schemasIn(value: unknown, place = ""): Generator<[string, Published]> {
  if (typeof value !== "object" || value === null) return;
  yield [place, value as Published];
  for (const [name, part] of Object.entries(value)) yield* schemasIn(part, `${place}/${name}`);
}

test("no published pattern has a Unicode property, which most readers of JSON Schema reject", () => {
  const published = {
    document: openapi(endpoints),
    capabilities: allCapabilities.map(({ input }) => publish(input, "input")),
    tools: tools.map(({ listed }) => listed.inputSchema),
  };
  const patterns = [...schemasIn(published)].filter(([, { pattern }]) => typeof pattern === "string");
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter(([, { pattern }]) => /\\[pP]\{/.test(pattern ?? ""))).toEqual([]);
});

test("no field of a form can only be null", () => {
  const document = openapi(endpoints);
  const forms = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ requestBody }) => requestBody?.content["multipart/form-data"]?.schema ?? []);
  expect(forms.length).toBeGreaterThan(1);
  const onlyNull = forms.flatMap((form) =>
    Object.entries(fieldsOf(document, form as Published)).filter(([, { type }]) => type === "null"),
  );
  expect(onlyNull).toEqual([]);
});

test("operation ids are unique", { tags: "long" }, () => {
  const ids = Object.values(openapi(endpoints).paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("responses are published open and requests are strict, and a named schema is one component", () => {
  const Thing = z.object({ id: z.string(), inner: z.object({ n: z.int() }) }).meta({ id: "Thing" });
  const document = openapi([
    endpoint({
      method: "POST",
      path: "/v1/things/{thing_id}",
      summary: "A thing",
      auth: ["service_principal"],
      params: z.object({ thing_id: z.string() }),
      query: z.object({ limit: z.coerce.number().int().max(9).default(3) }),
      body: z.strictObject({ name: z.string() }),
      output: Thing,
      also: [raw("text/event-stream")],
      status: 201,
      errors: ["NotFound"],
      run: async () => ({ id: "a", inner: { n: 1 } }),
    }),
  ]);
  const operation = document.paths["/v1/things/{thing_id}"]?.post;
  expect(parametersIn(document, operation)).toMatchObject([
    { name: "thing_id", in: "path", required: true },
    { name: "limit", in: "query", required: false, schema: { maximum: 9, default: 3 } },
  ]);
  expect(operation?.requestBody).toMatchObject({
    required: true,
    content: { "application/json": { schema: { additionalProperties: false } } },
  });
  expect(responseOf(document, operation, "201")?.content).toEqual({
    "application/json": { schema: { $ref: "#/components/schemas/Thing" } },
    "text/event-stream": { schema: { type: "string" } },
  });
  const thing = JSON.stringify(document.components.schemas.Thing);
  expect(thing).not.toContain("additionalProperties");
  expect(thing).toContain('"required":["id","inner"]');
});

test("the Idempotency-Key header is declared where an endpoint reads it, and nowhere else", {
  tags: "long",
}, () => {
  const document = openapi(endpoints);
  const declared = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      parametersIn(document, operation).some(
        ({ name, in: place }) => name === "Idempotency-Key" && place === "header",
      )
        ? [`${method.toUpperCase()} ${path}`]
        : [],
    ),
  );
  expect(declared.sort()).toMatchInlineSnapshot(`
    [
      "POST /v1/audio/speech",
      "POST /v1/capabilities/document.verify.v1/invoke",
      "POST /v1/capabilities/document.verify.v1/jobs",
      "POST /v1/capabilities/image.generate.v1/jobs",
      "POST /v1/capabilities/{capability_key}/comparisons",
      "POST /v1/capabilities/{capability_key}/invoke",
      "POST /v1/capabilities/{capability_key}/jobs",
      "POST /v1/capability-requests",
      "POST /v1/chat/completions",
      "POST /v1/embeddings",
      "POST /v1/images/edits",
      "POST /v1/images/generations",
      "POST /v1/inference/pinned",
      "POST /v1/inference/pinned/bulk",
      "POST /v1/inference/pinned/bulk/{bulk_id}/retry",
      "POST /v1/jobs/{job_id}/retry",
      "POST /v1/responses",
    ]
  `);
  const files = ["server/api", "server/operations"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const readers = (read: RegExp) =>
    files.filter((file) => /(?<!\.test)\.ts$/.test(file) && read.test(readFileSync(file, "utf8")));
  expect(readers(/keyHeader\(incoming\)/)).toEqual(["server/api/endpoint.ts"]);
  // A header that carries text is read only with `textHeader`.
  const text = new RegExp(`\\.header\\("(${TEXT_HEADERS.join("|")})"\\)(?! ===)`, "i");
  expect(readers(text)).toEqual([]);
});

test("the document is served with an ETag, and is 304 for a caller that has it", async () => {
  const answer = await documentAnswer(incoming({ path: "/openapi.json" }));
  expect(answer.status).toBe(200);
  expect(jsonOf(answer).openapi).toBe("3.1.0");
  const { etag } = answer.headers;
  expect(await documentAnswer(incoming({ headers: { "if-none-match": etag } }))).toMatchObject({
    status: 304,
    body: null,
  });
});

const bodies = endpoints.filter(({ body }) => body);
const textOf = (endpoint: Endpoint) => `${endpoint.method} ${endpoint.path}`;

test.each(bodies.map((each) => [textOf(each), each] as const))(
  "%s takes the example of its body",
  (_name, { example, documents, body }) => {
    expect(example).toBeDefined();
    for (const schema of [documents, body])
      expect(schema?.safeParse(example, { reportInput: true }).error?.issues ?? []).toEqual([]);
  },
);

/** The fields of a published schema, through references and alternatives. */
function fieldsOf(document: OpenApi, schema: Published): Record<string, Published> {
  if (schema.$ref)
    return fieldsOf(document, document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  const inner = (schema.anyOf ?? []).map((each) => fieldsOf(document, each));
  return Object.assign({}, ...inner, schema.properties);
}

/** A body whose fields depend on the capability. */
const OF_ANY_CAPABILITY = ["POST /v1/payloads"];

test("every body has named fields", { tags: "long" }, () => {
  const document = openapi(endpoints);
  const open = bodies.filter(({ method, path }) => {
    const { requestBody } = document.paths[path]?.[method.toLowerCase()] ?? {};
    return (
      Object.keys(fieldsOf(document, requestBody?.content["application/json"]?.schema ?? {})).length === 0
    );
  });
  expect(open.map(textOf)).toEqual(OF_ANY_CAPABILITY);
});

test.each([
  "CapabilityJobRequest",
  "CapabilityInvokeRequest",
  "RetailEstimateRequest",
  "PinnedRequest",
  "PinnedBulkRequest",
])("%s is closed, and each of its fields has a sentence", (name) => {
  const document = openapi(endpoints);
  const silent: string[] = [];
  const walk = (schema: Published, path: string) => {
    for (const [field, each] of Object.entries(fieldsOf(document, schema))) {
      if (!each.description?.endsWith(".")) silent.push(`${path}.${field}`);
      walk(each.type === "array" ? (each.items ?? {}) : each, `${path}.${field}`);
    }
  };
  walk({ $ref: `#/components/schemas/${name}` }, name);
  expect(silent).toEqual([]);
  expect(document.components.schemas[name]?.additionalProperties).toBe(false);
});

test("a default is described where the value is transformed, too", () => {
  const { schemas } = openapi(endpoints).components;
  const defaultOf = (name: string, field: string) =>
    (schemas[name] as Published | undefined)?.properties?.[field]?.default;
  expect(defaultOf("CapabilityRequestBody", "schemaVersion")).toBe("service.capability-request.v1");
  expect(defaultOf("PanelDefinitionCreate", "origin")).toBe("service");
  for (const name of ["ConnectionCreate", "ConnectionRotate", "OnboardingCompleteBody"])
    expect(defaultOf(name, "bootstrapMode")).toBe("manual_api_key");
});

test("the document is smaller than 465,000 bytes", () => {
  expect(Buffer.byteLength(documentText().text)).toBeLessThan(465_000);
});
