import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { call, finish, makeTenant, type Tenant } from "@/testing/api";
import { campaign } from "@/testing/campaign";
import { tapSandbox } from "@/testing/vendor-tap";
import { type Any, FIELDS, type Field, MARK, type Read, type What } from "./envelope-fuzz.fixture";

/*
 * The full campaign sends a thousand envelopes. No answer is a 500, a refusal names a field that deserves it, and each
 * accepted field shows on the job, its request, its receipt or in the request that the sandbox received.
 */

const TEXT = "text.general.fast.v1";

const QUOTED = /^(context|execution)\./;

/** The choice for a field: its value, its place in the body, and whether a second place disagrees. */
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

/** The request of a draw, the fields that deserve a refusal, and the fields that must show. */
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
      // The header is then the key, so no key is generated.
      for (const [place, each] of shown.entries())
        if (each.field.path === "idempotencyKey") shown.splice(place, 1);
      headers["idempotency-key"] += `-${Math.trunc(performance.now() * 1000)}`;
    }
  }
  return { body, bad, shown, input, headers };
}

/** The fields that a refusal names. */
function namesIn(detail: Any): string[] {
  if (Array.isArray(detail)) return detail.map(({ loc }) => loc.slice(1).join("."));
  const { path, field, details } = detail;
  return [path, field, details?.field, ...(details?.fields ?? [])].filter((name) => typeof name === "string");
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
/** True if the name is that of a field that deserves it, of something inside the field, or of the field at another place. */
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

/**
 * The kinds of case in a draw. A field counts as refused only if it is the only bad one, because a refusal may name just one.
 */
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

test("envelopes never cause a 500, refusals name the field, and accepted fields show", async () => {
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
  // The draws have covered every kind of case.
  expect(
    [...FIELDS.filter(({ good }) => good.length > 0).map(({ path }) => path)].filter(
      (path) => !shownFields.has(path),
    ),
  ).toEqual([]);
  expect(FIELDS.map(({ path }) => path).filter((path) => !refusedFields.has(path))).toEqual([]);
}, 240_000);
