import type { Capability } from "@/server/capabilities/define";
import type { CapabilityBrief } from "@/server/contract/capabilities";
import { JsonObject } from "@/server/contract/common";
import { FRAME_EVENTS } from "@/server/contract/enums";
import { isObject } from "@/server/platform/text/json";
import { describeCapability, toCapabilitySummary } from "./describe";
import { pricingContract } from "./pricing/pricing";
import { publish } from "./schema";

/** The largest size of a brief description as JSON, in bytes. */
export const MOST_BRIEF_BYTES = 4_000;

/**
 * Returns what an agent needs to run a capability, the same for every caller. If it exceeds `MOST_BRIEF_BYTES`, the
 * schema loses its descriptions, then the content of its larger fields, and then everything except names.
 * `more.openapi` links to the whole schema.
 */
export function briefOf(capability: Capability): CapabilityBrief {
  const schema = publish(capability.input, "input");
  const briefs = [schema, withoutWords(schema), flat(withoutWords(schema)), names(schema)].map((each) =>
    around(capability, each),
  );
  return briefs.find((brief) => bytesOf(brief) <= MOST_BRIEF_BYTES) ?? briefs.at(-1)!; // there are four
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

function around(capability: Capability, inputSchema: JsonObject): CapabilityBrief {
  const path = `/v1/capabilities/${capability.key}`;
  const { features, inputConstraints } = describeCapability(capability, false);
  const texts = Object.entries(inputConstraints).map(([field, { measurement, max }]) => [
    field,
    max === undefined ? `${measurement} as the model takes` : `at most ${max} ${measurement}`,
  ]);
  return {
    ...toCapabilitySummary(capability),
    inputSchema,
    limits: JsonObject.parse({
      ...Object.fromEntries(texts),
      ...(capability.constraints?.dimensions ? { dimensions: capability.constraints.dimensions } : {}),
      ...deadlines(features.durableJob),
    }),
    priceFrom: pricingContract(capability, "catalog_default").display,
    youPay: YOU_PAY,
    idempotencyRecommended: true,
    run: capability.modes.map((mode) => ({
      mode,
      ...runBy(mode, path, capability),
      ...(mode === "job_async" ? processingOf(features.deferredProcessing) : {}),
    })),
    more: {
      descriptor: path,
      openapi: `${path}/openapi.json`,
      models: `${path}/execution-targets?view=brief`,
      chooseModel: "execution.executionConstraints.providerPin: one of models, as provider/model",
      quote: `POST ${path}/quote`,
    },
    descriptorProjection: "brief",
  };
}

function deadlines(durable: unknown): JsonObject {
  const { maxQueueDeadlineSeconds, maxExecutionDeadlineSeconds } = (durable ?? {}) as JsonObject; // a sibling module writes this object
  return JsonObject.parse(
    maxExecutionDeadlineSeconds === undefined ? {} : { maxQueueDeadlineSeconds, maxExecutionDeadlineSeconds },
  );
}

/** Durable work is deferred by default if its model can wait and its text is not delivered in pieces. */
function processingOf(deferred: unknown): { processing?: string } {
  const { available, discountBps } = (deferred ?? {}) as JsonObject; // a sibling module writes this object
  if (!available) return {};
  const processing = `Deferred by default where the model can wait: ${Number(discountBps) / 100} % off its token rates, and it may wait for capacity. Invoke, streams and readerDelivery run at standard rates.`;
  return { processing };
}

/** Returns the shortest of the capability's examples. */
function exampleOf({ examples }: Capability): JsonObject {
  const [shortest] = examples.map(({ input }) => input).sort((a, b) => bytesOf(a) - bytesOf(b));
  return JsonObject.parse(shortest ?? {});
}

const YOU_PAY = "charge.chargedMicros of the result or job, fee included; null: not known yet.";
const FOLLOW =
  "GET /v1/jobs/{jobId}?waitSeconds=30 until status is final; files: GET /v1/jobs/{jobId}/artifacts/{artifactId}.";
const SELECT = "Of several variants choose one: POST /v1/jobs/{jobId}/variants/select with its artifactId.";

function runBy(mode: Capability["modes"][number], path: string, capability: Capability) {
  const body = { input: exampleOf(capability), idempotencyKey: "one-key-per-task" };
  switch (mode) {
    case "invoke_sync":
      return { request: `POST ${path}/invoke`, body };
    case "invoke_stream":
      return {
        request: `POST ${path}/invoke`,
        body: { ...body, executionMode: "Stream" },
        next: "Send Accept: text/event-stream, or read GET /v1/executions/{executionId}/events. `token` has {index, text}; the last event has the output or the error.",
        events: [...FRAME_EVENTS],
      };
    case "job_async":
      return {
        request: `POST ${path}/jobs`,
        body,
        next: capability.variants ? `${FOLLOW} ${SELECT}` : FOLLOW,
      };
  }
}

type Json = JsonObject[string];
/**
 * Returns the schema without descriptions. A property with that name stays, because it is an object and not a string.
 */
const withoutWords = (schema: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "description" && typeof value === "string" ? undefined : value,
  );

/** Returns the schema's own fields. A field of more than 200 bytes keeps only its type. */
function flat(schema: JsonObject): JsonObject {
  const { $defs: _, properties, ...rest } = schema;
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => [
    name,
    bytesOf(field) <= 200 ? field : kindOf(field),
  ]);
  return { ...rest, properties: Object.fromEntries(fields) };
}

/** Returns a schema with only the names of the fields, and which of them are required. */
const names = ({ type, properties, required }: JsonObject): JsonObject =>
  JsonObject.parse({
    type,
    properties: Object.fromEntries(
      Object.keys(isObject(properties) ? properties : {}).map((name) => [name, {}]),
    ),
    ...(required ? { required } : {}),
  });

const kindOf = (field: Json): JsonObject => (isObject(field) && field.type ? { type: field.type } : {});
