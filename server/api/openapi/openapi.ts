import type { z } from "zod";
import { ERRORS, type ErrorCode } from "@/server/platform/errors/errors";
import { VERSION } from "@/server/platform/settings/version";
import { COMMON_ERRORS, type Endpoint, isForPages } from "../endpoint";
import {
  type Components,
  type OpenApiSchema,
  openApiSchema,
  type Parameter,
  type Ref,
  type Response,
  type ResponseContent,
  ref,
  sharedResponse,
  sorted,
  withOneList,
} from "./schemas";

type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags?: readonly string[];
  /** Set if it differs from the document's. */
  security?: Record<string, string[]>[];
  parameters: (Parameter | Ref)[];
  requestBody?: { content: ResponseContent; required: boolean };
  responses: Record<string, Response | Ref>;
};

export type OpenApi = {
  openapi: string;
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Omit<Components, "inputs"> & {
    parameters: Record<string, Parameter>;
    securitySchemes: Record<string, OpenApiSchema>;
  };
};

const UNITS_OF_AUTH: Record<string, string> = {
  anonymous: "none",
  service_principal: "API key",
  human_session: "signed-in person",
  panel_session: "embed session",
};

/** The OpenAPI 3.1 document of some endpoints, generated from the values that serve them. */
export function openapi(endpoints: readonly Endpoint[], title = "Capstan"): OpenApi {
  const components: Components = { inputs: {}, schemas: {}, responses: {} };
  const paths: OpenApi["paths"] = {};
  const inOrder = endpoints
    .flatMap(withDedicated)
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const endpoint of inOrder) {
    paths[endpoint.path] ??= {};
    paths[endpoint.path]![endpoint.method.toLowerCase()] = operationOf(endpoint, components);
  }
  const errors = {
    ErrorResponse: ERROR_RESPONSE,
    HTTPValidationError: VALIDATION_ERROR,
    InvalidRequest: { anyOf: [ref("HTTPValidationError"), ref("ErrorResponse")] },
    ValidationError: ISSUE,
  };
  return withOneList({
    openapi: "3.1.0",
    info: {
      title,
      version: VERSION,
      description:
        "Discover a capability, get a quote, run it synchronously or as a durable job on any provider, and receive artifacts and a signed receipt. Every response has the header `x-request-id`, for logs and support.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ ApiKey: [] }],
    tags: [...new Set(inOrder.flatMap((endpoint) => endpoint.tags ?? []))].map((name) => ({ name })),
    paths,
    components: {
      inputs: components.inputs,
      schemas: { ...components.schemas, ...errors },
      responses: sorted(components.responses),
      parameters: sorted(shareParameters(paths)),
      securitySchemes: {
        ApiKey: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer cap_…`." },
      },
    },
  });
}

/** The endpoint, and one for each dedicated path that has a capability's key instead of the parameter. */
function withDedicated(endpoint: Endpoint): Endpoint[] {
  const { params: _, dedicated = {}, ...rest } = endpoint;
  const own = Object.entries(dedicated).map(([key, example]) => ({
    ...rest,
    path: endpoint.path.replace("{capability_key}", key) as Endpoint["path"], // the path keeps its leading slash
    summary: `${endpoint.summary} (${key})`,
    errors: endpoint.errors.filter((code) => code !== "UNKNOWN_CAPABILITY"),
    example,
  }));
  return [endpoint, ...own];
}

function operationOf(endpoint: Endpoint, components: Components): Operation {
  const isOpen = endpoint.auth.includes("anonymous");
  return {
    operationId: operationIdOf(endpoint),
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    ...(endpoint.tags ? { tags: endpoint.tags } : {}),
    ...(isOpen ? { security: [{}, { ApiKey: [] }] } : {}),
    parameters: [
      ...parametersOf(endpoint.params, "path", components),
      ...parametersOf(endpoint.query, "query", components),
      ...(endpoint.idempotent ? [IDEMPOTENCY_KEY] : []),
    ],
    ...requestBodyOf(endpoint, components),
    responses: responsesOf(endpoint, components),
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes a repeat safe: the same request with the same key returns the outcome of the first one, and a different request with the same key is rejected. If the body has an `idempotencyKey`, both must be equal.",
  schema: { type: "string", maxLength: 255 },
};

const ANY_OF = new Intl.ListFormat("en", { type: "disjunction" });

function descriptionOf({ auth, scope, description }: Endpoint): string {
  const callers = auth.map((kind) =>
    kind === "service_principal" && scope ? `API key with scope \`${scope}\`` : (UNITS_OF_AUTH[kind] ?? kind),
  );
  return `${description ? `${description}\n\n` : ""}Authentication: ${ANY_OF.format(callers)}.`;
}

/** Derives an id that is as stable as the path: `GET /v1/jobs/{job_id}/events` is get_v1_jobs_job_id_events. */
function operationIdOf({ method, path }: Endpoint): string {
  return `${method.toLowerCase()}${path.replaceAll(/[{}]/g, "").replaceAll(/[^A-Za-z0-9]+/g, "_")}`;
}

function parametersOf(
  schema: z.ZodObject | undefined,
  place: "path" | "query",
  components: Components,
): Parameter[] {
  if (!schema) return [];
  const whole: { properties?: Record<string, OpenApiSchema>; required?: string[] } = openApiSchema(
    schema,
    "input",
    components,
  );
  const { properties = {}, required = [] } = whole;
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(typeof description === "string" ? { description } : {}),
      schema: rest,
    };
  });
}

function requestBodyOf(endpoint: Endpoint, components: Components): Pick<Operation, "requestBody"> {
  if (endpoint.rawBody) {
    return { requestBody: { content: { "application/octet-stream": { schema: {} } }, required: true } };
  }
  if (endpoint.form) {
    const schema = openApiSchema(endpoint.form, "input", components);
    return { requestBody: { content: { "multipart/form-data": { schema } }, required: true } };
  }
  if (!endpoint.body) return {};
  const schema = openApiSchema(endpoint.documents ?? endpoint.body, "input", components);
  const required = !endpoint.body.safeParse(undefined).success;
  const example = endpoint.example === undefined ? {} : { example: endpoint.example };
  return { requestBody: { content: { "application/json": { schema, ...example } }, required } };
}

function responsesOf(endpoint: Endpoint, components: Components): Operation["responses"] {
  const { output } = endpoint;
  const content: ResponseContent =
    "rawMediaType" in output
      ? { [output.rawMediaType]: { schema: rawSchemaOf(output.rawMediaType) } }
      : { "application/json": { schema: openApiSchema(output, "output", components) } };
  for (const { rawMediaType } of endpoint.also ?? [])
    content[rawMediaType] = { schema: rawSchemaOf(rawMediaType) };
  const responses: Operation["responses"] = {
    [endpoint.status ?? 200]: { description: "Success.", content },
  };
  for (const status of endpoint.partly ?? [])
    responses[status] = {
      description: PARTLY[status],
      ...(status === 206 ? { content } : {}),
    };
  for (const [status, codes] of Object.entries(codesByStatus(endpoint))) {
    const schema = endpoint.refusals
      ? openApiSchema(endpoint.refusals.schema, "output", components)
      : errorSchemaOf(Number(status), codes);
    const shape = endpoint.refusals ? "Refusal" : "Error";
    const named = codes.filter((code) => !UNNAMED.has(code));
    responses[status] = sharedResponse(components, `${shape}${status}`, named, {
      description: `${WHEN[status] ?? "Refused."} Codes: ${codes.join(", ")}.`,
      content: { "application/json": { schema } },
    });
  }
  return responses;
}

/** Text is a string: any other schema would make the response type `unknown` in generated clients. Bytes have no schema. */
const rawSchemaOf = (mediaType: string): OpenApiSchema =>
  mediaType.startsWith("text/") ? { type: "string" } : {};

/**
 * Common error codes that are left out of a shared response's name, because every response of their status includes
 * them.
 */
const UNNAMED = new Set<string>(COMMON_ERRORS.filter((code) => ERRORS[code].status !== 403));

const PARTLY = {
  204: "Of a stream that has ended: `Last-Event-ID` names its last event.",
  206: "The bytes requested with `Range`.",
  304: "Not modified: `If-None-Match` names the current version.",
};

/** The condition under which an error of this status occurs. */
const WHEN: Record<string, string> = {
  400: "The request cannot be processed as sent.",
  401: "The credential is missing or invalid.",
  402: "There is not enough money or budget.",
  403: "The caller is not allowed to do this.",
  404: "Not found.",
  408: "The request body did not arrive in time.",
  409: "The request conflicts with the current state.",
  410: "No longer available.",
  413: "The request body is too large.",
  415: "The media type of the request body is not supported.",
  416: "The requested range is outside the file.",
  422: "The request is invalid, or cannot run as specified.",
  428: "The user has not decided yet.",
  429: "Too many requests. Retry after `Retry-After` seconds.",
  500: "Internal error.",
  501: "Not available in this installation.",
  502: "The provider failed or could not be reached.",
  503: "Temporarily unavailable.",
  504: "The work has not ended in time and continues.",
};

function codesByStatus(endpoint: Endpoint): Record<number, string[]> {
  const isOpen = endpoint.auth.includes("anonymous");
  const hasBody = [endpoint.body, endpoint.form, endpoint.rawBody].some((each) => each !== undefined);
  const isWriteOfBrowsers = endpoint.method !== "GET" && endpoint.auth.includes("human_session");
  const common = COMMON_ERRORS.filter((code) => {
    if (code === "PayloadTooLarge" || code === "RequestTimeout") return hasBody;
    // A write of a browser's session is also refused for a wrong content type without a body (auth.ts).
    if (code === "UnsupportedMediaType") return hasBody || isWriteOfBrowsers;
    if (code === "CrossSiteRequest") return isForPages(endpoint) || isWriteOfBrowsers;
    // Even an endpoint without authentication rejects some credentials (requireCaller).
    if (code === "AuthorizationFailed") return !isOpen || !endpoint.auth.includes("panel_session");
    return true;
  });
  const byStatus: Record<number, string[]> = {};
  const listed: ErrorCode[] = [...endpoint.errors, ...common];
  for (const code of listed) {
    const { status } = ERRORS[code];
    byStatus[status] ??= [];
    if (!byStatus[status].includes(code)) byStatus[status].push(code);
  }
  if (endpoint.params || endpoint.query || endpoint.body)
    byStatus[422] = ["Validation", ...(byStatus[422] ?? [])];
  return byStatus;
}

function errorSchemaOf(status: number, codes: string[]): OpenApiSchema {
  const coded = ref("ErrorResponse");
  if (status !== 422) return coded;
  return codes.length === 1 ? ref("HTTPValidationError") : ref("InvalidRequest");
}

/** The members of every error in addition to `detail`. */
const HEAD = {
  code: { type: "string" },
  message: { type: "string", description: "What happened, and what to do next." },
  requestId: { type: "string" },
  docsUrl: { type: "string", description: "The page about this code, as Markdown." },
};

const ERROR_RESPONSE = {
  type: "object",
  description: "An error. Branch on `code`. Some codes have additional fields in `detail`.",
  properties: {
    ...HEAD,
    detail: {
      type: "object",
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        details: { type: "object" },
        retryable: {
          type: "boolean",
          description: "On 429 and 5xx: whether the same request may be sent again.",
        },
        nextAction: { type: "string" },
        retryAfterSeconds: { type: "number" },
        executionId: { type: "string", description: "The execution that failed." },
        receiptId: { type: "string" },
      },
      required: ["code", "message"],
    },
  },
  required: [...Object.keys(HEAD), "detail"],
};

const ISSUE = {
  type: "object",
  properties: {
    loc: { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
    msg: { type: "string" },
    type: { type: "string" },
    input: {},
    ctx: { type: "object" },
  },
  required: ["loc", "msg", "type"],
};

const VALIDATION_ERROR = {
  type: "object",
  description: "The validation errors of the request, one entry per field.",
  properties: { ...HEAD, detail: { type: "array", items: ref("ValidationError") } },
  required: [...Object.keys(HEAD), "detail"],
};

/**
 * Moves parameters that more than two operations share into the components. If several have one name, the most frequent one
 * keeps it.
 */
function shareParameters(paths: OpenApi["paths"]): Record<string, Parameter> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const counts = new Map<string, number>();
  for (const parameter of operations.flatMap(({ parameters }) => parameters)) {
    const text = JSON.stringify(parameter);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const shared: Record<string, Parameter> = {};
  for (const [text, count] of [...counts].sort(([, a], [, b]) => b - a)) {
    const parameter: Parameter = JSON.parse(text);
    if (count > 2) shared[shared[parameter.name] ? `${parameter.name}_${count}` : parameter.name] = parameter;
  }
  const texts = new Map(Object.entries(shared).map(([name, parameter]) => [JSON.stringify(parameter), name]));
  for (const operation of operations)
    operation.parameters = operation.parameters.map((parameter) => {
      const name = texts.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` };
    });
  return shared;
}

/** The parameters of an operation, with references resolved. */
export const parametersIn = ({ components }: OpenApi, operation: Operation | undefined): Parameter[] =>
  (operation?.parameters ?? []).flatMap((parameter) =>
    "$ref" in parameter ? (components.parameters[parameter.$ref.split("/").at(-1) ?? ""] ?? []) : parameter,
  );

/** The response of an operation to a status, with its reference resolved. */
export function responseOf({ components }: OpenApi, operation: Operation | undefined, status: string) {
  const response = operation?.responses[status];
  if (!response || !("$ref" in response)) return response;
  return components.responses[response.$ref.split("/").at(-1) ?? ""];
}
