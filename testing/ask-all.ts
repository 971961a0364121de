import { expect } from "vitest";
import { z } from "zod";
import type { Endpoint } from "@/server/api/endpoint";
import * as jobs from "@/server/domain/jobs";
import { SHOWN_OF_EVENTS } from "@/server/domain/jobs/reading/blind";
import * as webhooks from "@/server/domain/webhooks";
import { endpoints } from "@/server/operations";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { appRouter } from "@/server/trpc";
import { type Answer, call } from "./api";
import { at, own, pinnedTo, say, type World } from "./blind-world";
import { campaign } from "./campaign";
import { system } from "./tenants";
import { inlineStep, testClock } from "./world";

type Value = string | number | boolean | string[];

/** Values for fields that are not ids. `World.pool` has the ids, by field names in snake case. */
const PLAIN: Record<string, Value> = {
  days: 30,
  waitSeconds: 0,
  status: "succeeded",
  isTest: true,
  environment: "development",
  view: "full",
  // Lists show the creation times of blind jobs, because all entries of a comparison have the same.
  createdAfter: "2020-01-01T00:00:00Z",
  createdBefore: "2020-01-01T00:00:00Z",
  baseModelFamily: "none",
  external_subject: "none",
  accountClass: "individual",
  tag: ["none"],
  capabilities: ["text.general.fast.v1"],
  // A lookup by key finds no more than the id of its own job.
  operation: "jobs",
  idempotency_key: "a key of one's own",
};
/** Values of filters that could identify a competitor; each list is requested with each of them. */
const SOUGHT: Record<string, Value[]> = {
  provider: ["sandbox", "openai-compatible"],
  model: ["sandbox-1", "sandbox-2", "quillfeather"],
  q: ["sandbox", "quillfeather"],
  type: Object.keys(SHOWN_OF_EVENTS),
  minCostUsd: [0, 0.000_001, 0.000_1, 0.001, 0.01],
  action: ["job", "comparison"],
};
/** Fields that name one entry or a position in a list, and so distinguish nothing. */
const NAMES_ONE = ["cursor", "jobId", "subject"];
const MOST_DAYS = 92;
const dayFrom = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
function valuesOf(world: World, name: string): Value[] | undefined {
  if (name === "from") return [dayFrom(-MOST_DAYS + 3)];
  if (name === "to") return [dayFrom(1)];
  if (name === "actor") return world.pool.principal_id;
  if (name === "subject") return world.pool.job_id;
  return world.pool[snake(name)] ?? SOUGHT[name] ?? (name in PLAIN ? [PLAIN[name]!] : undefined);
}

/**
 * The values to try for an optional field: those that its schema lists, else those known for its name. Throws if there are
 * none.
 */
function optionsOf(world: World, name: string, schema: z.ZodType): Value[] {
  const { enum: listed, type, const: only } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  if (listed) return listed as Value[]; // fields of a query are strings, numbers and booleans
  if (only !== undefined) return [only as Value]; // fields of a query are strings, numbers and booleans
  if (type === "boolean") return [true, false];
  return (
    valuesOf(world, name) ??
    (() => {
      throw new Error(`nothing stands for ${name}: this test does not know this filter yet`);
    })()
  );
}

type Fields = Record<string, Value>;
/** The plain request of a list, then one request for each value of each optional field. */
function* filtersOf(world: World, fields: [string, z.ZodType][]): Generator<Fields> {
  const names = fields.map(([name]) => name);
  const most: Fields = names.includes("limit") ? { limit: 100 } : {};
  yield most;
  for (const [name, schema] of fields) {
    if (name === "limit") yield { limit: 1 };
    else if (name !== "cursor")
      for (const value of optionsOf(world, name, schema).slice(0, MOST_VALUES))
        yield { ...most, [name]: value };
  }
}
const MOST_VALUES = campaign.size({ small: 5, full: 20 });
/** Optional fields are tried only for this many choices of the required ones. */
const MOST_FILTERED = 3;

/** Entries of one comparison that lists show alike, so that no filter may distinguish them. */
async function alikeIn({ comparisonIds }: World): Promise<string[][]> {
  const { rows } = await pool.query<{ ids: string[] }>(
    `SELECT array_agg(id) AS ids FROM job WHERE comparison_id = ANY($1)
     GROUP BY comparison_id, status, artifact_count, error_code, selected_artifact_id IS NULL HAVING count(*) > 1`,
    [comparisonIds],
  );
  return rows.map(({ ids }) => ids);
}

/** The entries that a filter lists, if it omits others that look the same. */
function splitBy(alike: string[][], whole: string, filtered: string): string[] {
  return alike.flatMap((ids) => {
    const shown = ids.filter((id) => whole.includes(id));
    const found = shown.filter((id) => filtered.includes(id));
    return found.length === 0 || found.length === shown.length ? [] : found;
  });
}

/** Every combination of values for these names. */
function choices(world: World, names: string[]): Record<string, Value>[] {
  return names.reduce<Record<string, Value>[]>(
    (made, name) => {
      const values = valuesOf(world, name);
      if (!values) throw new Error(`nothing stands for ${name}: this test does not know it yet`);
      return made.flatMap((each) => values.map((value) => ({ ...each, [name]: value })));
    },
    [{}],
  );
}

/** Bodies of requests that change something; a request without a row here or in the next list fails. */
const input = say("How deep is the sea?");
const BODIES: Record<string, unknown> = {
  [`POST ${at("{capability_key}", "comparisons/estimate")}`]: {
    input,
    competitors: pinnedTo("sandbox/sandbox-1", own("quillfeather")),
  },
  [`POST ${at("{capability_key}", "quote")}`]: {
    input,
    execution: { executionConstraints: { preferredModel: "quillfeather" } },
  },
  [`POST ${at("{capability_key}", "estimate")}`]: { input },
  "POST /v1/capabilities/resolve": { intent: "answer a question" },
  "POST /v1/capabilities/image.generate.v1/plan": { input: { prompt: "A kite" } },
  "POST /v1/billing/holds/{hold_id}/resolve": { notCharged: true, note: "x" },
  "POST /v1/deliveries/{delivery_id}/replay": undefined,
  "POST /v1/jobs/{job_id}/retry": undefined,
  "POST /v1/jobs/{job_id}/variants/select": { artifactId: "art_none" },
  "POST /v1/provenance/manifests": "receipts",
  "PUT /v1/projects/{project_id}/budget-policy": { enforcement: "warn", dailyUsd: 0.0001 },
  // These come last, because they decide and stop jobs.
  "POST /v1/jobs/{job_id}/approve": undefined,
  "POST /v1/jobs/{job_id}/reject": undefined,
  "POST /v1/jobs/{job_id}/cancel": undefined,
};
const CONCERNS_NO_ENTRY = [
  // They start jobs of their own and return only those; a competitor's key is refused
  // (server/domain/jobs/reading/blind.db.test.ts).
  /^POST .*\/(jobs|invoke|comparisons)$/,
  /^POST \/v1\/inference\//,
  /\/v1\/(adapter|adapters|adapter-aliases|adapter-defaults)/,
  /provider-credentials|^(POST|DELETE) \/v1\/connections/,
  /\/v1\/capability-requests/,
  /delivery-endpoints/,
  /^POST \/v1\/(artifacts|payloads)$/,
  /\/v1\/billing\/(currency|guardrails|checkout-session|portal-session|wallet\/top-up-session)$/,
  /^POST \/v1\/provenance\/(lockfile|manifests\/)/,
  // A judgement ends the blindness, so it is not requested here.
  /^POST .*\/judgements$/,
  // Requests about the organization, its projects, people, keys and budgets.
  /^(PUT|DELETE) \/v1\/budgets(\/|$)/,
  /^(POST|PATCH|PUT|DELETE) \/v1\/(organizations|api-keys|invitations)(\/|$)/,
  /^(POST|PATCH|PUT|DELETE) \/v1\/projects(\/\{project_id\}(\/(environments|members|keys|approval-rules)(\/.*)?)?)?$/,
  // They run jobs of their own, through other endpoints.
  /^POST \/v1\/(chat\/completions|responses|embeddings|images\/\w+|audio\/speech)$/,
  // Embeds, and how their sessions start.
  /^(POST|PATCH) \/v1\/panel-(definitions|sessions)(\/|$)/,
  // Requests about no one's executions.
  /^(POST|DELETE) \/v1\/(stripe|payments|webhooks|test-checkout|panel|auth|policy)/,
];

/** The responses by request, and the filters that distinguished entries which look the same. */
export type Answers = Map<string, string[]> & { split?: string[] };
const textOf = ({ status, headers, text }: Answer) => `${status}\n${JSON.stringify(headers)}\n${text}`;
const isAsked = ({ auth }: Endpoint) =>
  auth.some((kind) => kind === "service_principal" || kind === "human_session");

async function askAll(
  world: World,
  endpoint: Endpoint,
  answersByName: Answers,
  alike: string[][],
  split: string[],
) {
  const { method, path } = endpoint;
  const name = `${method} ${path}`;
  if (method !== "GET" && !(name in BODIES)) {
    if (CONCERNS_NO_ENTRY.some((pattern) => pattern.test(name))) return;
    throw new Error(`${name} changes something, and this test does not know what to send`);
  }
  const fields = Object.entries(endpoint.query?.shape ?? {}) as [string, z.ZodType][]; // a query schema has only such fields
  const isOptional = ([, schema]: [string, z.ZodType]) => schema.safeParse(undefined).success;
  const required = fields.filter((field) => !isOptional(field)).map(([field]) => field);
  const optional = fields.filter(isOptional);
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param!);
  const body = BODIES[name] === "receipts" ? { label: "x", receiptIds: world.pool.receipt_id } : BODIES[name];
  const answers = answersByName.get(name) ?? [];
  answersByName.set(name, answers);
  const { tenant } = world;
  const callers = [
    ...(endpoint.auth.includes("service_principal") ? [{ key: tenant.key }, { key: tenant.unboundKey }] : []),
    ...(endpoint.auth.includes("human_session") ? [{ headers: world.owner }] : []),
  ];
  for (const [place, chosen] of choices(world, [...params, ...required]).entries()) {
    const target = params.reduce((made, param) => made.replace(`{${param}}`, String(chosen[param])), path);
    const asRequired = Object.fromEntries(required.map((field) => [field, chosen[field]!]));
    // Requests that change something are sent once.
    const filters: Iterable<Fields> =
      method === "GET" && place < MOST_FILTERED ? filtersOf(world, optional) : [{}];
    const plain = new Map<object, string>();
    for (const filter of filters) {
      const query = new URLSearchParams(
        Object.entries({ ...asRequired, ...filter }).flatMap(([field, value]) =>
          [value].flat().map((each): [string, string] => [field, String(each)]),
        ),
      );
      const full = `${target}?${query}`;
      for (const caller of callers) {
        const answer = await call(method, full, body === undefined ? caller : { ...caller, body });
        expect(answer.status, `${name}: ${answer.text}`).toBeLessThan(500);
        answers.push(textOf(answer));
        const whole = plain.get(caller) ?? answer.text;
        plain.set(caller, whole);
        if (!NAMES_ONE.some((one) => one in filter) && filter.limit !== 1)
          for (const id of splitBy(alike, whole, answer.text)) split.push(`${name}?${query}: ${id}`);
        if (method === "GET" && /\{artifact_id\}/.test(path))
          answers.push(textOf(await call("HEAD", full, caller)));
        if (
          /jobs\/\{job_id\}\/events/.test(path) &&
          /"(succeeded|failed|canceled)"/.test((await call("GET", `/v1/jobs/${chosen.job_id}`, caller)).text)
        )
          answers.push(
            textOf(
              await call("GET", full, {
                ...caller,
                headers: { ...("headers" in caller ? caller.headers : {}), accept: "text/event-stream" },
              }),
            ),
          );
      }
    }
  }
}

/** Calls every query of the panel, except those for operators and requests, with every combination of its required fields. */
async function askPanel(world: World, answersByName: Answers, alike: string[][], split: string[]) {
  const procedures = appRouter._def.procedures as unknown as Record<
    string,
    { _def: { type: string; inputs: z.ZodType[] } } & ((...given: unknown[]) => unknown)
  >;
  for (const [path, { _def }] of Object.entries(procedures)) {
    if (_def.type !== "query" || path.startsWith("operator.") || path.startsWith("requests.")) continue;
    const fields = _def.inputs.flatMap((schema) =>
      schema instanceof z.ZodObject ? Object.entries(schema.shape as Record<string, z.ZodType>) : [],
    );
    const required = fields.flatMap(([field, schema]) =>
      schema.safeParse(undefined).success ? [] : [field],
    );
    const optional = fields.filter(([, schema]) => schema.safeParse(undefined).success);
    const ask = path
      .split(".")
      .reduce((at: unknown, part) => (at as Record<string, unknown>)[part], world.caller) as (
      input: unknown,
    ) => Promise<unknown>;
    const answers: string[] = [];
    answersByName.set(`panel ${path}`, answers);
    const asked = choices(world, required).flatMap((chosen, place) =>
      (place < MOST_FILTERED ? [...filtersOf(world, optional)] : [{}]).map(
        (filter): Fields => ({ ...chosen, ...filter }),
      ),
    );
    let whole: string | undefined;
    for (const chosen of asked) {
      const answer = await ask(fields.length > 0 ? chosen : undefined).catch(
        ({
          code,
          message,
          cause,
        }: {
          code: string;
          message: string;
          cause?: { code?: string; details?: unknown };
        }) => ({
          code,
          message,
          fault: cause?.code,
          details: cause?.details,
        }),
      );
      const text = JSON.stringify(answer) ?? "";
      answers.push(text);
      if (required.every((field) => chosen[field] === asked[0]![field])) {
        whole ??= text;
        if (!NAMES_ONE.some((one) => one in chosen) && chosen.limit !== 1)
          for (const id of splitBy(alike, whole, text))
            split.push(`${path} ${JSON.stringify(chosen)}: ${id}`);
      }
    }
  }
}

/** Sends the requests of a creator that can concern an entry, and returns all responses and the received webhooks. */
export async function walk(world: World): Promise<Answers> {
  const answersByName: Answers = new Map();
  await jobs.announce(system, { projectId: world.tenant.projectId });
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM delivery WHERE project_id = $1", [
    world.tenant.projectId,
  ]);
  if (rows.length > 0) world.pool.delivery_id = rows.slice(0, 40).map(({ id }) => id);
  for (const { id } of rows) await webhooks.deliver(system, id, inlineStep(testClock()));
  answersByName.set(
    "webhooks",
    world.receiver.received.splice(0).map(({ body, headers }) => `${JSON.stringify(headers)}\n${body}`),
  );
  const alike = await alikeIn(world);
  const split: string[] = [];
  await askPanel(world, answersByName, alike, split);
  const order = Object.keys(BODIES);
  const place = ({ method, path }: Endpoint) => order.indexOf(`${method} ${path}`);
  for (const endpoint of endpoints.filter(isAsked).toSorted((a, b) => place(a) - place(b)))
    await askAll(world, endpoint, answersByName, alike, split);
  return Object.assign(answersByName, { split });
}
