import type { z } from "zod";
import type { CallOptions, Capability, InputConstraint } from "@/server/capabilities/define";
import type { ExecutionConstraints, ExecutionOptions, Maturity } from "@/server/contract/envelope";
import { NO_ADAPTERS, type Resolved, resolveAdapters } from "@/server/domain/adapters";
import { isFunded, recentFunds } from "@/server/domain/billing";
import {
  canDefer,
  chooseRoute,
  connectUrlOf,
  dependsOnFunds,
  healthNow,
  type Route,
  routeUnavailable,
} from "@/server/domain/catalog";
import { connectionsOf } from "@/server/domain/credentials";
import { enforcementOf, toIssues } from "@/server/domain/envelope";
import { fail, ValidationFault } from "@/server/errors";
import { type Micros, microsToUsd, usdToMicros } from "@/server/money";
import { type AnyCall, type MaturityRating, type ModelFacts, RATINGS } from "@/server/providers/define";
import type { Json } from "@/server/step";
import { type Estimate, estimate, FREE, type Processing } from "./estimate";
import { ruled } from "./ruled";
import { type Seal, sealOf } from "./seal";
import { findSources, materialize } from "./sources";
import { estimateStages, namesOf, stagesOf, withStages } from "./stages";

/** The parts of an envelope that route or price. */
export type Wanted = {
  input: Record<string, Json>;
  execution: {
    billingMode?: "byok" | "managed" | null | undefined;
    credentialSource?: "platform" | "customer" | null | undefined;
    maximumCharge?: z.output<typeof ExecutionOptions>["maximumCharge"];
    executionConstraints: ExecutionConstraints;
  };
  sampling?:
    | { temperature?: number | null | undefined; reasoningIntent?: ReasoningIntent | null | undefined }
    | null
    | undefined;
  responseSchema?: Record<string, Json> | null | undefined;
  toolSchemas?: Record<string, Json>[] | null | undefined;
  pin?: { target: string } | null | undefined;
  maturity?: Maturity | null;
  /** What the adapters of the input mean, where that was found out already. */
  adapters?: Resolved;
  /** What `fundedFor` found. */
  isFunded?: boolean | undefined;
  /** What has failed lately is judged by this moment. */
  now?: Date;
  executionMode?: string | null | undefined;
  readerDelivery?: { boundary: string } | null | undefined;
  budget?:
    | { enforcement?: string | null | undefined; maximumEstimatedCost?: number | null | undefined }
    | null
    | undefined;
};
type ReasoningIntent = "omit" | "economy" | "balanced" | "deep" | "maximum";

export type ExecutionPlan = {
  capability: Capability;
  /** Parsed by the capability's schema: defaults filled in. */
  input: unknown;
  /** Null: runs here. */
  route: Route | null;
  call: AnyCall | null;
  /** What the capability made ready before its call. */
  material: unknown;
  /** What the adapters of the input mean at this moment. */
  adapters: Resolved;
  estimate: Estimate;
  /** Everything that prices or routes, hashed: what a quote is sealed to. Not computed before it is asked for. */
  seal: () => Seal;
  warnings: Record<string, Json>[];
};

/**
 * Reads a request against the catalog: input parsed and measured, a route chosen, the call made, its price bounded
 * and held against the caller's own ceilings. Writes nothing.
 */
export async function planExecution(
  capability: Capability,
  project: { id: string; environment: string },
  wanted: Wanted,
  mode: "durable" | "sync" = "durable",
): Promise<ExecutionPlan> {
  const parsed = parseInput(capability, wanted.input);
  const input = mode === "sync" ? capSync(capability, parsed) : parsed;
  const constraints = wanted.execution.executionConstraints;
  const { execute: execution } = capability;
  const inInput = "local" in execution ? undefined : execution.credentialSource?.(input as never); // parsed by this capability's own schema
  const billingMode = billingModeOf(wanted, inInput);
  if ("local" in execution) {
    refuseModelWords(capability, wanted);
    await findSources(project.id, capability, input);
    return {
      capability,
      input,
      route: null,
      call: null,
      material: undefined,
      adapters: NO_ADAPTERS,
      estimate: FREE,
      seal: () => sealOf(capability.key, project, billingMode, wanted, NO_ADAPTERS),
      warnings: [],
    };
  }
  const [connections, adapters, isBehind] = await Promise.all([
    connectionsOf(project),
    wanted.adapters ?? adaptersOf(capability, project, input),
    healthNow(wanted.now ?? new Date()),
  ]);
  const stages = stagesOf(capability, input);
  const { providerPin, preferredModel, autoSelect } = constraints;
  const asked = { pin: wanted.pin?.target, providerPin, preferredModel, autoSelect };
  const names =
    stages.length > 0 ? namesOf(capability, stages, asked, connections) : { main: asked, stages: {} };
  const connectUrl = connectUrlOf(project);
  const route = chooseRoute(
    capability,
    input,
    {
      billingMode,
      ...names.main,
      maturity: leastRating(wanted.maturity),
      supports: (model) => unsupportedBy(model, wanted) === null,
      streams: wanted.executionMode === "Stream" || Boolean(wanted.readerDelivery),
      isFunded: wanted.isFunded,
      connections,
      only: adapters.only,
      isBehind,
    },
    connectUrl,
  );
  checkConstraints(capability, input, route);
  checkSupport(route.model, wanted);
  const options = callOptions(wanted);
  const material = await materialize(project.id, capability, input, options);
  const call = ruled(
    () => execution.call(input as never, options, route.model, material as never), // parsed by this capability's own schema
  );
  const processing = processingOf(capability, route, wanted, mode);
  const isTold = wanted.executionMode === "Stream" || Boolean(wanted.readerDelivery);
  const mayRepair = !isTold && canRepair(capability, input, route, material);
  const priced: Estimate = {
    ...(await estimate(capability, input, route, call, processing, mayRepair)),
    requestedTarget: names.main === asked ? requestedTarget(wanted) : null,
    rewrites: rewritesOf(wanted.input, call),
    ...(adapters.adapters.length > 0
      ? { adapters: { used: adapters.adapters, isDefault: adapters.isDefault } }
      : {}),
  };
  const before = await estimateStages(
    capability,
    input,
    stages,
    route,
    { maturity: leastRating(wanted.maturity), isFunded: wanted.isFunded, connections, ...names.stages },
    material,
    connectUrl,
  );
  const whole = stages.length > 0 ? withStages(priced, before.estimates, before.isExact) : priced;
  return {
    capability,
    input,
    route,
    call,
    material,
    adapters,
    estimate: whole,
    seal: () => sealOf(capability.key, project, billingMode, wanted, adapters),
    warnings: checkCallCeiling(whole.maximumMicros, wanted),
  };
}

/** What the adapters an input names, or the project's default, mean now; nothing is asked where a capability takes none. */
function adaptersOf(
  capability: Capability,
  project: { id: string; environment: string },
  input: unknown,
): Resolved | Promise<Resolved> {
  if (!capability.adapters) return NO_ADAPTERS;
  const place = { projectId: project.id, environment: project.environment };
  return resolveAdapters(place, capability.adapters(input as never), capability.key); // parsed by this capability's own schema
}

/** What an envelope asks of the provider beside the input. */
export function callOptions({
  responseSchema,
  sampling,
  toolSchemas,
}: Pick<Wanted, "responseSchema" | "sampling" | "toolSchemas">): CallOptions {
  return {
    ...(responseSchema ? { responseSchema } : {}),
    ...(typeof sampling?.temperature === "number" ? { temperature: sampling.temperature } : {}),
    ...(sampling?.reasoningIntent ? { reasoningIntent: sampling.reasoningIntent } : {}),
    ...(toolSchemas?.length ? { tools: toolSchemas } : {}),
  };
}

/** May an unfit answer be given back once? Not to a model that answers later: its two answers would not be one attempt. */
function canRepair(
  { execute }: Capability,
  input: unknown,
  { provider, model }: Route,
  material: unknown,
): boolean {
  if ("local" in execute || !execute.repair || provider[execute.port]?.poll) return false;
  return execute.repair.mayBeNeeded(input as never, model, material as never); // parsed by this capability's own schema
}

/** Durable work waits for the model's cheaper tier; what is followed as it is written does not wait. */
function processingOf(
  capability: Capability,
  route: Route,
  { readerDelivery }: Wanted,
  mode: "durable" | "sync",
): Processing {
  const waits = mode === "durable" && !readerDelivery && canDefer(capability, route);
  return waits ? "deferred" : "standard";
}

const REWRITTEN = ["maxOutputTokens", "width", "height", "quality", "durationMs"] as const;

/** Where what is sent differs from what was asked for: caps and defaults filled in, sizes brought to what models draw. */
function rewritesOf(input: Record<string, Json>, call: AnyCall): Estimate["rewrites"] {
  const sent = call as Partial<Record<(typeof REWRITTEN)[number], string | number>>; // of ports without these fields: none
  return REWRITTEN.flatMap((field) => {
    const to = sent[field];
    return to === undefined || to === input[field]
      ? []
      : [{ field: `input.${field}`, from: input[field] ?? null, to }];
  });
}

/** The model the caller named, as far as it did: exactly, or one it preferred. */
function requestedTarget({ pin, execution }: Wanted): string | null {
  const { preferredModel, providerPin } = execution.executionConstraints;
  if (pin) return pin.target;
  return preferredModel && providerPin ? `${providerPin}/${preferredModel}` : (preferredModel ?? null);
}

function parseInput(capability: Capability, raw: Record<string, Json>): unknown {
  const parsed = capability.input.safeParse(raw, { reportInput: true });
  if (parsed.success) return parsed.data;
  const unknown = parsed.error.issues.find(
    (issue) => issue.code === "unrecognized_keys" && issue.path.length === 0,
  );
  if (unknown?.code === "unrecognized_keys") {
    const allowed = "shape" in capability.input ? Object.keys(capability.input.shape as object) : [];
    const names = unknown.keys.map((key) => `input.${key}`).join(", ");
    const namesModel = unknown.keys.includes("model") && "port" in capability.execute;
    const instead = namesModel
      ? " A model is named beside the input: execution.executionConstraints.preferredModel."
      : "";
    fail(
      "UNKNOWN_INPUT_FIELD",
      `${capability.key} does not take ${names}. It takes ${allowed.join(", ")}.${instead}`,
      {
        fields: unknown.keys.map((key) => `input.${key}`),
        allowed,
      },
    );
  }
  throw new ValidationFault(toIssues(parsed.error, ["input"]));
}

/** Synchronous runs are for short answers: the cap is filled in, and more than it goes through jobs. */
function capSync(capability: Capability, input: unknown): unknown {
  const most = capability.sync?.maxOutputTokens;
  if (most === undefined) return input;
  const asked = (input as { maxOutputTokens?: number }).maxOutputTokens;
  if (asked !== undefined && asked > most) {
    const submit = `/v1/capabilities/${capability.key}/jobs`;
    fail("USE_JOBS", `A synchronous answer has at most ${most} output tokens; use POST ${submit} for more.`, {
      submit,
    });
  }
  return { ...(input as object), maxOutputTokens: asked ?? most };
}

/** Every string at a dotted path; a list is walked, so `messages` reaches each `messages[i].content`. */
function textsAt(value: unknown, path: string): { field: string; text: string }[] {
  let found: { field: string; value: unknown }[] = [{ field: "input", value }];
  for (const part of path.split(".")) {
    found = found.flatMap(({ field, value: inner }) => {
      const next = (inner as Record<string, unknown> | null | undefined)?.[part];
      const at = `${field}.${part}`;
      return Array.isArray(next)
        ? next.map((item, position) => ({ field: `${at}[${position}]`, value: item }))
        : [{ field: at, value: next }];
    });
  }
  return found.flatMap(({ field, value: inner }) => {
    if (typeof inner === "string") return [{ field, text: inner }];
    const content = (inner as { content?: unknown } | null | undefined)?.content;
    if (typeof content === "string") return [{ field: `${field}.content`, text: content }];
    const parts: { text?: unknown }[] = Array.isArray(content) ? content : [];
    return parts.flatMap(({ text }, place) =>
      typeof text === "string" ? [{ field: `${field}.content[${place}].text`, text }] : [],
    );
  });
}

function checkConstraints(capability: Capability, input: unknown, route: Route) {
  const modelId = (input as { modelId?: string; model?: string }).modelId ?? route.model.id;
  for (const [path, constraint] of Object.entries(capability.inputConstraints)) {
    const listed = leastOf(constraint.byModel?.[modelId]?.max ?? constraint.max, route.model, constraint);
    const base = {
      measurement: constraint.measurement,
      overflow: "reject" as const,
      capabilityKey: capability.key,
      provider: route.provider.name,
      modelId,
      retryable: false as const,
    };
    const texts = textsAt(input, path);
    if (constraint.measurement === "characters") {
      for (const { field, text } of texts) {
        const actualCharacters = [...text].length;
        if (listed !== undefined && actualCharacters > listed) {
          fail(
            "PromptTooLong",
            `${field} has ${actualCharacters} characters; at most ${listed} fit. Nothing was trimmed.`,
            {
              ...base,
              field,
              actualCharacters,
              maxCharacters: listed,
            },
          );
        }
      }
      continue;
    }
    const { contextWindow } = route.model;
    const maxTokens = Math.min(listed ?? Number.POSITIVE_INFINITY, contextWindow ?? Number.POSITIVE_INFINITY);
    if (maxTokens === Number.POSITIVE_INFINITY) continue;
    // A refusal must be certain: no vocabulary in use packs more than this many bytes into a token on average.
    const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / (route.model.tokenBytes ?? 6));
    const total = texts.reduce((sum, { text }) => sum + tokens(text), 0);
    if (total > maxTokens) {
      const longest = texts.reduce((a, b) => (b.text.length > a.text.length ? b : a));
      fail(
        "PromptTooLong",
        `The request has at least ${total} tokens; ${maxTokens} fit into ${modelId}. Nothing was trimmed.`,
        {
          ...base,
          field: longest.field,
          actualTokens: total,
          maxTokens,
        },
      );
    }
  }
}

/** A model of speech may read less than the capability allows. */
const leastOf = (
  listed: number | undefined,
  { maxCharacters }: ModelFacts,
  { measurement }: InputConstraint,
): number | undefined =>
  measurement === "characters" && maxCharacters !== undefined
    ? Math.min(listed ?? maxCharacters, maxCharacters)
    : listed;

const refuseField = (field: string, msg: string): never => {
  throw new ValidationFault([{ loc: ["body", ...field.split(".")], msg, type: "unsupported" }]);
};

/** What is asked beside the input goes to the provider as its own feature, or not at all: the first a model lacks. */
function unsupportedBy(
  { supports }: Pick<ModelFacts, "supports">,
  { toolSchemas, responseSchema, sampling }: Wanted,
): { field: string; what: string } | null {
  if (toolSchemas?.length && !supports.tools) return { field: "toolSchemas", what: "tools" };
  if (responseSchema && !supports.jsonSchema) return { field: "responseSchema", what: "a response schema" };
  if (typeof sampling?.temperature === "number" && !supports.temperature)
    return { field: "sampling.temperature", what: "a temperature" };
  const intent = sampling?.reasoningIntent;
  if (intent && intent !== "omit" && !supports.reasoning)
    return { field: "sampling.reasoningIntent", what: "a reasoning intent" };
  return null;
}

function checkSupport(model: ModelFacts, wanted: Wanted) {
  // A text model without schemas of its own is asked for one in words.
  const lacking = unsupportedBy(model, model.port === "text" ? { ...wanted, responseSchema: null } : wanted);
  if (lacking) refuseField(lacking.field, `${model.id} does not take ${lacking.what}.`);
}

/** What runs here has no model: nothing of it may be asked for or chosen. */
function refuseModelWords(capability: Capability, wanted: Wanted) {
  const lacking = unsupportedBy({ supports: {} }, wanted);
  if (lacking)
    refuseField(lacking.field, `${capability.key} runs without a model and does not take ${lacking.what}.`);
  const { providerPin, preferredModel, autoSelect } = wanted.execution.executionConstraints;
  if (wanted.pin || providerPin || (preferredModel && !autoSelect))
    routeUnavailable([], { pin: wanted.pin?.target, providerPin, preferredModel });
}

/**
 * Has the organization funds for the operator's accounts? Asked only where the answer may change the route (undefined: it
 * does not), at most a second old, and without taking anything of the allowance.
 */
export async function fundedFor(
  capability: Capability,
  organizationId: string,
  wanted: Pick<Wanted, "execution" | "pin">,
): Promise<boolean | undefined> {
  const isDecided = wanted.execution.billingMode || wanted.execution.credentialSource || wanted.pin;
  if (isDecided || !dependsOnFunds(capability)) return undefined;
  return isFunded(await recentFunds(organizationId, false));
}

/** Whose account pays: `platform` is managed, `customer` is the caller's own; the input of some capabilities says it, too. */
function billingModeOf(
  { execution }: Wanted,
  inInput: "platform" | "customer" | undefined,
): "byok" | "managed" | null {
  const { billingMode } = execution;
  const credentialSource = execution.credentialSource ?? inInput;
  if (inInput && credentialSource !== inInput)
    refuseField("input.credentialSource", `It differs from execution.credentialSource ${credentialSource}.`);
  const implied = credentialSource && (credentialSource === "customer" ? "byok" : "managed");
  if (implied && billingMode && implied !== billingMode) {
    refuseField(
      "execution.credentialSource",
      `credentialSource ${credentialSource} means billingMode ${implied}; ${billingMode} is given.`,
    );
  }
  return billingMode ?? implied ?? null;
}

/** The rating a trait has at least. */
const TRAIT_RATINGS = { sexual_non_graphic: "R", graphic_violence: "R", sexual_explicit: "NC17" } as const;

/** What a route must allow: what was said, and what the traits amount to. */
function leastRating(maturity: Maturity | null | undefined): MaturityRating | null {
  if (!maturity) return null;
  const ratings = maturity.traits.map((trait): MaturityRating => TRAIT_RATINGS[trait]);
  if (maturity.rating) ratings.push(maturity.rating);
  return RATINGS.findLast((rating) => ratings.includes(rating)) ?? null;
}

type Ceiling = { field: string; micros: Micros; enforcement: string };

/**
 * The ceilings of this very call. maxCostUsd and budget.maximumEstimatedCost prevent unless their mode says otherwise,
 * the stricter mode where both say one; maximumCharge always prevents.
 */
function ceilingsOf({ execution, budget }: Pick<Wanted, "execution" | "budget">): Ceiling[] {
  const { maxCostUsd } = execution.executionConstraints;
  const enforcement = enforcementOf({ execution, budget }) ?? "prevent";
  const { amountMicros, amountUsd, amountMinor } = execution.maximumCharge ?? {};
  const charges = [
    amountMicros,
    typeof amountUsd === "number" ? usdToMicros(amountUsd) : null,
    // Cents stand beside the exact amount as a rounded copy: they count where they are alone.
    typeof amountMinor === "number" && amountMicros == null && amountUsd == null
      ? amountMinor * 10_000
      : null,
  ];
  return [
    ...Object.entries({
      "execution.executionConstraints.maxCostUsd": maxCostUsd,
      "budget.maximumEstimatedCost": budget?.maximumEstimatedCost,
    }).flatMap(([field, usd]) =>
      typeof usd === "number" ? [{ field, micros: usdToMicros(usd), enforcement }] : [],
    ),
    ...charges
      .filter((micros) => typeof micros === "number")
      .map((micros) => ({ field: "execution.maximumCharge", micros, enforcement: "prevent" })),
  ];
}

/** Holds a call to its own ceilings; answers with those that only warn. */
export function checkCallCeiling(
  maximumMicros: Micros,
  wanted: Pick<Wanted, "execution" | "budget">,
): Record<string, Json>[] {
  const exceeded = ceilingsOf(wanted)
    .filter(({ micros, enforcement }) => maximumMicros > micros && enforcement !== "off")
    .sort((a, b) => a.micros - b.micros);
  const first = exceeded.find(({ enforcement }) => enforcement === "prevent") ?? exceeded[0];
  if (!first) return [];
  const ceiling = microsToUsd(first.micros);
  if (first.enforcement === "warn") {
    return [
      {
        code: "BudgetExceeded",
        scope: "call",
        enforcement: "warn",
        remaining: ceiling,
        ceiling,
        estimatedCost: microsToUsd(maximumMicros),
      },
    ];
  }
  fail(
    "BudgetExceeded",
    `The estimate of ${microsToUsd(maximumMicros)} USD is above this call's ceiling of ${ceiling} USD.`,
    {
      scope: "call",
      field: first.field,
      enforcement: "prevent",
      estimatedCost: microsToUsd(maximumMicros),
      available: ceiling,
      ceiling,
    },
  );
}
