import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { call, finish, makeTenant, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { tapSandbox } from "@/testing/vendor-tap";

/*
 * A thousand envelopes in the full campaign. No answer is a 500, a refusal names a field that deserves it, and each accepted
 * field shows on the job, its request, its receipt or in what the sandbox received.
 */

const TEXT = "text.general.fast.v1";
/** Part of everything of the caller that no provider may see. */
const MARK = "never-sent";

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client reads them
type Any = any;
type What = "jobs" | "invoke" | "quote";
/** All that can be read of an accepted request. */
type Read = {
  what: What;
  job: Any;
  request: Any;
  receipt: Any;
  sent: Any;
  quote: Any;
  row: Any;
  answer: Any;
};

type Field = {
  /** Where it belongs, by dots. */
  path: string;
  good: unknown[];
  bad: unknown[];
  /** It may also be at the root, in both spellings. */
  lifts?: true;
  only?: What[];
  shows?(read: Read, value: Any): void;
};

const QUOTED = /^(context|execution)\./;
const long = (length: number) => MARK + "x".repeat(length - MARK.length);
const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) });
const sized = (bytes: number) => ({ [MARK]: "x".repeat(bytes - MARK.length - 7) });
const tool = { type: "function", name: "depth", parameters: { type: "object", properties: {} } };
const schema = { type: "object", properties: { depth: { type: "integer" } }, required: ["depth"] };

const onAll =
  (name: string, of: (value: Any) => unknown = (value) => value) =>
  ({ job, receipt, request }: Read, value: Any) => {
    expect(job[name]).toEqual(of(value));
    expect(receipt[name]).toEqual(of(value));
    if (request.request) expect(request.request[name] ?? of(null)).toEqual(of(value));
  };
const snapshot = (path: string) => (read: Read, value: Any) => {
  if (!read.request.request || value === null) return;
  const found = path.split(".").reduce((at: Any, part) => at?.[part], read.request.request);
  expect(found).toEqual(value);
};
const orNull = (value: Any) => value ?? null;

const FIELDS: Field[] = [
  {
    path: "externalRef",
    good: [null, "", MARK, long(255), "😀".repeat(255)],
    bad: [long(256), "😀".repeat(256), 7, {}],
    shows: onAll("externalRef", orNull),
  },
  {
    path: "tags",
    good: [[], [MARK], Array.from({ length: 32 }, (_, place) => `${MARK}${place}`), [long(256)]],
    bad: [Array.from({ length: 33 }, (_, place) => `${place}`), [long(257)], ["a", 7], "a", null],
    shows: onAll("tags"),
  },
  {
    path: "metadata",
    good: [{}, { [MARK]: [1, null, "x"] }, sized(16_384), nested(32)],
    bad: [sized(16_385), nested(33), [], "x"],
    shows: onAll("metadata"),
  },
  {
    path: "correlationId",
    good: [null, MARK, long(255)],
    bad: [long(256), 7],
    shows: onAll("correlationId", orNull),
  },
  { path: "taskKind", good: [null, MARK, long(255)], bad: [long(256), []], shows: onAll("taskKind", orNull) },
  {
    path: "sampling",
    good: [
      null,
      {},
      { temperature: 0 },
      { temperature: 2 },
      { reasoningIntent: "maximum" },
      { temperature: 1, reasoningIntent: "omit" },
    ],
    bad: [{ temperature: 2.01 }, { temperature: -0.01 }, { reasoningIntent: "most" }, { topP: 1 }, 1],
    shows: ({ sent }, value) => {
      expect(sent.temperature).toBe(value?.temperature);
      expect(sent.reasoningIntent).toBe(value?.reasoningIntent);
    },
  },
  {
    path: "toolSchemas",
    good: [null, [], [tool], [tool, { ...tool, name: "width" }]],
    bad: [{}, [1], Array.from({ length: 129 }, () => tool)],
    shows: ({ sent }, value) => expect(sent.tools).toEqual(value?.length ? value : undefined),
  },
  {
    path: "responseSchema",
    good: [null, schema],
    bad: ["x", [], 1],
    shows: ({ sent }, value) =>
      expect(sent.responseFormat).toEqual(
        value ? { type: "json_schema", name: "answer", schema } : { type: "text" },
      ),
  },
  {
    path: "maturityRating",
    good: [null, "G", "PG", "PG13", "R", "NC17"],
    bad: ["X", "", 18],
    shows: ({ job, receipt }, value) => {
      expect(job.maturityRating).toBe(value);
      expect(receipt.maturity?.rating ?? null).toBe(value);
    },
  },
  {
    path: "matureContentTraits",
    good: [[], ["graphic_violence"], ["graphic_violence", "sexual_explicit", "sexual_non_graphic"]],
    bad: [["x"], "graphic_violence", Array.from({ length: 4 }, () => "graphic_violence")],
    shows: ({ job, receipt }, value) => {
      expect(job.matureContentTraits).toEqual(value);
      expect(receipt.maturity?.traits ?? []).toEqual(value);
    },
  },
  {
    path: "maturitySource",
    good: [null, "explicit_invocation", "workload_derived", "legacy_default", "project_default"],
    bad: ["me", 1],
    shows: ({ job, receipt }, value) => {
      if (value) expect([job.maturitySource, receipt.maturity.source]).toEqual([value, value]);
    },
  },
  {
    path: "context.productId",
    good: ["", MARK, long(255)],
    bad: [long(256), null, 1],
    shows: ({ job, receipt }, value) => expect([job.productId, receipt.productId]).toEqual([value, value]),
  },
  {
    path: "context.environment",
    good: ["", "development"],
    bad: ["x".repeat(65), null],
    shows: ({ job }) => expect(job.environment).toBe("development"),
  },
  {
    path: "context.dataClassification",
    good: ["Public", "Internal", "Confidential", "PrivateUserContent", "Manuscript"],
    bad: ["Secret", null],
    shows: ({ job, receipt, row }, value) => {
      expect([job.dataClassification, receipt.dataClassification]).toEqual([value, value]);
      if (["PrivateUserContent", "Manuscript"].includes(value)) expect(row.sealed).toBe(true);
    },
  },
  {
    path: "context.retentionRequirement",
    good: ["HashesOnly", "Transient", "EncryptedShortTerm", "ProductManaged", "ProductionAsset"],
    bad: ["Forever", 30],
    shows: ({ job, receipt, request, row }, value) => {
      expect([job.retentionRequirement, receipt.retentionRequirement]).toEqual([value, value]);
      expect(request.contentState).toBe(value === "HashesOnly" ? "pruned" : "available");
      const days = { HashesOnly: 1 / 24, Transient: 30, EncryptedShortTerm: 7, ProductManaged: 180 }[
        value as "Transient"
      ];
      // What is stored at the end counts from the moment before it is written.
      const hours = row.hours.map((each: number | null) => each && Math.round(each));
      expect(hours).toEqual(days ? [days * 24, days * 24] : [null, null]);
      if (value === "EncryptedShortTerm") expect(row.sealed).toBe(true);
    },
  },
  { path: "context.surprise", good: [], bad: [1] },
  {
    path: "execution.executionPreference",
    good: ["automatic"],
    bad: ["fastest", "cheapest", "maximum_quality", "", null],
    shows: snapshot("execution.executionPreference"),
  },
  {
    path: "execution.billingMode",
    lifts: true,
    good: [null, "byok", "managed"],
    bad: ["free", 1],
    shows: ({ job, quote }, value) => {
      if (value) expect((quote ?? job).pricing.mode).toBe(value);
    },
  },
  {
    path: "execution.maximumCharge",
    lifts: true,
    good: [
      null,
      {},
      { amountMicros: 1e9, currency: "USD", amountMinor: 100_000, display: "$1000.00" },
      { amountUsd: 9.5 },
    ],
    bad: [
      { currency: "EUR" },
      { amountMicros: -1 },
      { amountMicros: 1.5 },
      { amountMicros: 1 },
      { amountUsd: 0 },
      5,
    ],
    shows: snapshot("execution.maximumCharge"),
  },
  { path: "execution.surprise", good: [], bad: [1] },
  {
    path: "execution.executionConstraints.maxCostUsd",
    lifts: true,
    good: [null, 1, 1e9],
    // A ceiling below the price is not bad in itself: whether it refuses depends on the enforcement beside it.
    bad: [0, -1, "1"],
    shows: snapshot("execution.executionConstraints.maxCostUsd"),
  },
  {
    path: "execution.executionConstraints.preferredModel",
    lifts: true,
    good: [null, "sandbox-1", "sandbox-2"],
    bad: ["", "sandbox-none", "x".repeat(256), 1],
    shows: ({ receipt, sent, quote }, value) => {
      if (!value) return;
      if (quote) return expect(quote.resolved.model).toBe(value);
      expect([receipt.route.model, sent.model]).toEqual([value, value]);
    },
  },
  {
    path: "execution.executionConstraints.autoSelect",
    lifts: true,
    good: [false],
    bad: ["yes", 1],
    shows: snapshot("execution.executionConstraints.autoSelect"),
  },
  {
    path: "execution.executionConstraints.providerPin",
    lifts: true,
    good: [null, "sandbox"],
    bad: ["", "unknown", 1],
    shows: ({ receipt, quote }, value) => {
      if (value) expect(quote?.resolved.provider ?? receipt?.route.provider).toBe(value);
    },
  },
  {
    path: "execution.executionConstraints.budgetEnforcement",
    lifts: true,
    good: [null, "", " Prevent ", "warn", "off"],
    bad: ["maybe", 1],
    shows: ({ request }, value) => {
      const kept = request.request?.execution.executionConstraints.budgetEnforcement ?? null;
      if (request.request) expect(kept).toBe(value?.trim().toLowerCase() || null);
    },
  },
  {
    path: "execution.executionConstraints.maxDurationSeconds",
    lifts: true,
    good: [null, 5, 60],
    bad: [4, 7_201, 5.5, "60"],
    shows: ({ row }, value) => {
      if (value) expect(row.execution_seconds).toBe(value);
    },
  },
  {
    path: "execution.executionConstraints.queueDeadlineSeconds",
    good: [null, 30, 7_200],
    bad: [0, 7_201, 1.5],
    shows: ({ row }, value) => {
      if (value) expect(row.queue_seconds).toBe(value);
    },
  },
  { path: "execution.executionConstraints.maxLatencyMs", good: [], bad: [100] },
  {
    path: "budget",
    good: [
      null,
      {},
      { enforcement: "WARN", maximumEstimatedCost: 1 },
      { enforcement: "off", maximumEstimatedCost: 5 },
    ],
    bad: [{ enforcement: "x" }, { maximumEstimatedCost: 0 }, { ceiling: 1 }, 5],
    shows: ({ request }, value) => {
      if (request.request && value?.enforcement)
        expect(request.request.budget).toEqual({ ...value, enforcement: value.enforcement.toLowerCase() });
    },
  },
  {
    path: "pin",
    good: [null],
    bad: [
      { target: "sandbox/sandbox-none" },
      { target: "openai/gpt-4.1-mini" },
      { target: "" },
      { target: 1 },
      {},
      "x",
    ],
  },
  {
    path: "idempotencyKey",
    good: [null, "  "],
    bad: ["x".repeat(256), 7],
    shows: ({ job }) => expect(job.idempotencyKey).toMatch(/^(job|run)-[0-9a-f]{32}$/),
  },
  {
    path: "executionMode",
    only: ["invoke"],
    good: [null, "RequestResponse"],
    bad: ["ProductionWorkflow", "Fast", 1],
    shows: ({ receipt }) => expect(receipt.executionMode).toBe("invoke_sync"),
  },
  { path: "surprise", good: [], bad: [1, null, {}] },
];

/** How a field was chosen: its value, where it is, and whether a second place disagrees. */
type Choice = { value: unknown; isGood: boolean; place: "own" | "root" | "snake" | "both"; isTorn: boolean };

const choiceOf = (field: Field): fc.Arbitrary<Choice | null> => {
  const places = fc.constantFrom(
    ...((field.lifts ? ["own", "root", "snake", "both"] : ["own"]) as Choice["place"][]),
  );
  const of = (values: unknown[], isGood: boolean) =>
    fc.record({
      value: fc.constantFrom(...values),
      isGood: fc.constant(isGood),
      place: places,
      isTorn: fc.integer({ min: 0, max: 19 }).map((draw) => draw === 0),
    });
  return fc.oneof(
    { weight: 60, arbitrary: fc.constant(null) },
    ...(field.good.length ? [{ weight: 40, arbitrary: of(field.good, true) }] : []),
    { weight: field.good.length ? 2 : 1, arbitrary: of(field.bad, false) },
  );
};

const drawn = fc.record({
  what: fc.constantFrom<What>("jobs", "jobs", "invoke", "invoke", "quote"),
  choices: fc.tuple(...FIELDS.map(choiceOf)),
  credentialSource: fc.constantFrom(undefined, undefined, undefined, "platform", "customer", "unknown"),
  inputBy: fc.constantFrom("inline", "inline", "inline", "bare", "reference", "both", "torn", "unknown"),
  timeout: fc.constantFrom(undefined, undefined, undefined, "same", "other"),
  quote: fc.constantFrom(undefined, undefined, undefined, undefined, "torn"),
  header: fc.constantFrom(undefined, undefined, undefined, "given", "torn"),
  said: fc.integer({ min: 0, max: 1_000_000 }),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

let tenant: Tenant;
let tap: Awaited<ReturnType<typeof tapSandbox>>;
beforeAll(async () => {
  tenant = await makeTenant();
  tap = await tapSandbox();
});
afterAll(() => tap.stop());

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
function put(body: Any, path: string, value: unknown) {
  const parts = path.split(".");
  const last = parts.pop()!;
  let at = body;
  for (const part of parts) {
    at[part] ??= {};
    at = at[part];
  }
  at[last] = value;
}

/** The request of a draw, which fields deserve a refusal, and which must show. */
async function build(draw: Drawn) {
  const { what } = draw;
  const body: Any = {};
  const bad = new Set<string>();
  const shown: { field: Field; value: unknown }[] = [];
  for (const [place, field] of FIELDS.entries()) {
    const choice = draw.choices[place];
    if (!choice || (field.only && !field.only.includes(what))) continue;
    if (what === "quote" && !QUOTED.test(field.path)) continue;
    const { value } = choice;
    const name = field.path.split(".").at(-1)!;
    if (choice.place === "own" || choice.place === "both") put(body, field.path, value);
    if (choice.place === "root") body[name] = value;
    if (choice.place === "snake") body[snake(name)] = value;
    if (choice.place === "both") {
      const other = field.good.find(
        (each) => each !== null && JSON.stringify(each) !== JSON.stringify(value),
      );
      const isTorn = choice.isTorn && value !== null && other !== undefined;
      body[name] = isTorn ? other : value;
      if (isTorn) bad.add(field.path);
    }
    if (!choice.isGood) bad.add(field.path);
    shown.push({ field, value });
  }
  body.execution ??= {};
  const execution = body.execution;
  const billingMode = body.billingMode ?? body.billing_mode ?? execution.billingMode;
  if (draw.credentialSource) {
    execution.credentialSource = draw.credentialSource;
    const implied = { platform: "managed", customer: "byok", unknown: null }[draw.credentialSource];
    if (!implied || (billingMode && implied !== billingMode)) bad.add("execution.credentialSource");
  }
  if (draw.timeout) {
    const given =
      body.maxDurationSeconds ??
      body.max_duration_seconds ??
      execution.executionConstraints?.maxDurationSeconds;
    const value = draw.timeout === "same" ? (given ?? 10) : given === 11 ? 12 : 11;
    body.timeoutSeconds = value;
    if (given != null && value !== given) bad.add("execution.executionConstraints.maxDurationSeconds");
    shown.push({ field: FIELDS.find(({ path }) => path.endsWith(".maxDurationSeconds"))!, value });
  }
  if (draw.quote === "torn") {
    Object.assign(execution, { quoteId: "quote_a", estimateId: "quote_b" });
    bad.add("execution.estimateId");
  }

  const input = { messages: [{ role: "user", content: `How deep is lake ${draw.said}?` }] };
  const stored = async (value: object) => (await tenant.post("/v1/payloads", value)).json.payloadId;
  switch (draw.inputBy) {
    case "bare":
      Object.assign(body, input);
      break;
    case "reference":
      body.inputPayloadRef = await stored(input);
      break;
    case "both":
      Object.assign(body, { input, inputPayloadRef: await stored(input) });
      break;
    case "torn":
      Object.assign(body, { input, inputPayloadRef: await stored({ messages: [] }) });
      bad.add("inputPayloadRef");
      break;
    case "unknown":
      body.inputPayloadRef = "pay_0000000000000000000000000";
      bad.add("inputPayloadRef");
      break;
    default:
      body.input = input;
  }
  const headers: Record<string, string> = {};
  if (draw.header && what !== "quote") {
    headers["idempotency-key"] = `key-${draw.said}`;
    if (draw.header === "torn") {
      body.idempotencyKey = "another key";
      bad.add("idempotencyKey");
    } else if (!body.idempotencyKey?.trim?.()) {
      // The header is the key then, and no key is minted.
      for (const [place, each] of shown.entries())
        if (each.field.path === "idempotencyKey") shown.splice(place, 1);
      headers["idempotency-key"] += `-${Math.trunc(performance.now() * 1000)}`;
    }
  }
  return { body, bad, shown, input, headers };
}

/** The fields a refusal names. */
function namesIn(detail: Any): string[] {
  if (Array.isArray(detail)) return detail.map(({ loc }) => loc.slice(1).join("."));
  const { path, field, details } = detail;
  return [path, field, details?.field, ...(details?.fields ?? [])].filter((name) => typeof name === "string");
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
/** Is this name one of a field that deserves it: the field, something inside it, or its name at another place? */
function deserves(name: string, bad: ReadonlySet<string>): boolean {
  const said = camel(name);
  return [...bad].some(
    (path) =>
      said === path || said.startsWith(`${path}.`) || path.split(".").at(-1) === said.split(".").at(-1),
  );
}

async function readBack(what: What, answer: Any): Promise<Read> {
  if (what === "quote")
    return { what, quote: answer, job: null, request: {}, receipt: null, sent: null, row: {}, answer };
  const jobId: string = answer.jobId ?? answer.executionId;
  if (what === "jobs") await finish(jobId);
  const read = async (path: string) => (await tenant.get(`/v1/jobs/${jobId}${path}`)).json;
  const [job, request, receipt, rows] = await Promise.all([
    read(""),
    read("/request"),
    read("/receipt"),
    pool.query(
      `SELECT queue_seconds, execution_seconds, bool_and(is_sealed) AS sealed,
         array_agg(extract(epoch FROM expires_at - payload.created_at)::float8 / 3600) AS hours
       FROM job JOIN payload ON job_id = job.id WHERE job.id = $1 GROUP BY job.id`,
      [jobId],
    ),
  ]);
  const sent = tap.of(receipt.attempts[0].attemptId);
  expect(sent).toHaveLength(1);
  expect(JSON.stringify(sent)).not.toContain(MARK);
  return {
    what,
    job,
    request,
    receipt,
    sent: JSON.parse(sent[0]!.body),
    quote: null,
    row: rows.rows[0],
    answer,
  };
}

/** The kinds of case in a draw. A field counts as refused only where it is alone with that, since a refusal may name one. */
function kindsOf({ what, choices, ...others }: Drawn): string[] {
  const chosen = FIELDS.flatMap((field, place) => {
    const choice = choices[place];
    const isSent =
      (!field.only || field.only.includes(what)) && (what !== "quote" || QUOTED.test(field.path));
    return choice && isSent ? [{ path: field.path, ...choice }] : [];
  });
  const bad = chosen.filter(({ isGood, isTorn, place }) => !isGood || (isTorn && place === "both"));
  const { credentialSource, inputBy, timeout, quote, header } = others;
  const odd = [
    credentialSource,
    timeout,
    quote,
    header === "torn",
    ["torn", "unknown"].includes(inputBy),
  ].filter(Boolean);
  if (bad.length === 1 && odd.length === 0 && !bad[0]!.isGood) return [`${bad[0]!.path} refused`];
  if (bad.length > 0) return [];
  const extras = [
    credentialSource,
    timeout,
    quote && `quote ${quote}`,
    header && `header ${header}`,
    inputBy,
  ];
  const alone =
    odd.length <= 1
      ? extras.filter(Boolean).map((extra) => `${what === "quote" ? "quote" : "run"} ${extra}`)
      : [];
  if (odd.length > 0) return alone;
  return [
    ...alone,
    what,
    ...chosen.flatMap(({ path, place }) => (what === "quote" ? [] : [`${path} shown`, `place ${place}`])),
  ];
}

test("envelopes: no 500, refusals name the field, and what is accepted shows", async () => {
  const counts = { accepted: 0, refused: 0 };
  const [shownFields, refusedFields] = [new Set<string>(), new Set<string>()];
  await fc.assert(
    fc.asyncProperty(drawn, async (draw) => {
      const { body, bad, shown, input, headers } = await build(draw);
      const { what } = draw;
      const { status, json, text } = await call("POST", `/v1/capabilities/${TEXT}/${what}`, {
        key: tenant.key,
        body,
        headers,
      });
      if (bad.size > 0) {
        counts.refused++;
        expect([400, 402, 409, 422], text).toContain(status);
        const names = namesIn(json.detail);
        expect(names.length, text).toBeGreaterThan(0);
        for (const name of names) expect(deserves(name, bad), `${name} of ${[...bad]}: ${text}`).toBe(true);
        for (const name of names)
          refusedFields.add([...bad].find((path) => deserves(name, new Set([path])))!);
        return;
      }
      counts.accepted++;
      expect(status, `${text} ${JSON.stringify(body).slice(0, 2_000)}`).toBe(200);
      const read = await readBack(what, json);
      if (read.sent) expect(read.sent.messages).toEqual(input.messages);
      if (read.request.request) expect(read.request.request.input).toEqual(input);
      if (what === "invoke") {
        const { externalRef, tags, metadata } = read.job;
        expect(read.answer).toMatchObject({ externalRef, tags, metadata, status: "succeeded" });
      }
      if (what !== "quote") expect(read.job.status).toBe("succeeded");
      for (const { field, value } of shown) {
        if (what === "quote" && !/billingMode|preferredModel|providerPin/.test(field.path)) continue;
        field.shows?.(read, value);
        shownFields.add(field.path);
      }
    }),
    { ...campaign.covering(drawn, kindsOf, 1_000), endOnFailure: true },
  );
  expect(counts.accepted).toBeGreaterThan(campaign.size({ small: 5, full: 120 }));
  expect(counts.refused).toBeGreaterThan(campaign.size({ small: 20, full: 300 }));
  // Nothing was left out by chance.
  expect(
    [...FIELDS.filter(({ good }) => good.length > 0).map(({ path }) => path)].filter(
      (path) => !shownFields.has(path),
    ),
  ).toEqual([]);
  expect(FIELDS.map(({ path }) => path).filter((path) => !refusedFields.has(path))).toEqual([]);
}, 240_000);
