import { expect } from "vitest";

/** Marks the caller's values that must not reach a provider. */
export const MARK = "never-sent";

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client reads them
export type Any = any;
export type What = "jobs" | "invoke" | "quote";
/** All readable parts of an accepted request. */
export type Read = {
  what: What;
  job: Any;
  request: Any;
  receipt: Any;
  sent: Any;
  quote: Any;
  row: Any;
  answer: Any;
};

export type Field = {
  /** The field's path, with dots. */
  path: string;
  good: unknown[];
  bad: unknown[];
  /** The field is also accepted at the root, in both spellings. */
  lifts?: true;
  only?: What[];
  shows?(read: Read, value: Any): void;
};

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

export const FIELDS: Field[] = [
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
    // Other values are valid with a schema (server/api/openai/schemas.db.test.ts).
    path: "responseSchemaName",
    good: [null],
    bad: ["", "a name", "x".repeat(65), 7, []],
    shows: ({ sent }) => expect(sent.responseFormat.name ?? "answer").toBe("answer"),
  },
  {
    path: "responseSchemaStrict",
    good: [null],
    bad: ["yes", 1, {}],
    shows: ({ sent }) => expect(sent.responseFormat.strict).toBeUndefined(),
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
      // The end of the content's retention is counted from just before it is written.
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
    // A ceiling below the price is not bad by itself: its enforcement decides whether it refuses.
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
