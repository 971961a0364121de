import type { ProjectAccess } from "@/server/domain/access";
import { checkGuardrail } from "@/server/domain/budgets";
import { PRICING_VERSION, priceAtMost } from "@/server/domain/catalog";
import { isKeptSealed, type KeptContent, toContentRow } from "@/server/domain/content";
import { keptMs, keptUntil } from "@/server/domain/envelope";
import { limitOf } from "@/server/domain/plans";
import {
  checkCallCeiling,
  inputTokensAtMost,
  messageTokensAtMost,
  tokensAbove,
} from "@/server/domain/quotes";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import type { Micros } from "@/server/platform/money";
import { contentOf, sha256Hex } from "@/server/platform/text/canonical";
import { isMarked, statesCacheWrites } from "@/server/providers/cache-marks";
import type { ModelFacts, Tier } from "@/server/providers/define";
import { PinRefusal, pinSettings } from "@/server/providers/pins";
import type { PinnedPlan, SharedContent } from "../rows";
import { limitsOf, type SharedRequest, sharedContentOf } from "./request";
import { findTarget, type PinTarget } from "./target";

/**
 * The highest cost of one execution: the estimate at the price of its tier, and the maximum, which is held,
 * at the standard price.
 */
type Bound = { estimatedMicros: Micros; maximumMicros: Micros };

export type Planned = {
  plan: PinnedPlan;
  target: PinTarget;
  content: SharedContent;
  isTest: boolean;
  /**
   * Bounds the cost of this input and checks it against the ceilings of the call and the organization. Throws
   * PromptTooLong and BudgetExceeded; the warnings come from ceilings that only warn. Does not check the
   * approval threshold, which applies to all inputs together.
   */
  bound(input: string): Promise<Bound & { warnings: Record<string, Json>[] }>;
};

/** The capability under which pinned executions are counted. */
const CAPABILITY = "inference.pinned";

/**
 * Plans a request: finds provider, interface, model and account, and makes the body once to check that the
 * interface supports the whole request. Writes nothing. A bulk is planned once for all its inputs.
 */
export async function planPinned(
  request: SharedRequest,
  input: string,
  project: ProjectAccess,
  environment: string,
): Promise<Planned> {
  const place = { id: project.id, environment };
  const target = await findTarget(request.pin, place);
  const { api, model } = target;
  const content = sharedContentOf(request);
  const tier = tierOf(request, target);
  const body = bodyOf(target, { ...content, input }, tier);
  const outputTokens = mostOutput(request, model);
  const { context } = request;
  const hashed = async (value: unknown) =>
    value === undefined ? null : (await contentOf(value as Json)).sha256; // parsed JSON
  const plan: PinnedPlan = {
    pin: request.pin,
    isolation: request.isolation,
    processing: request.processing,
    tier,
    settings: pinSettings(api, body),
    sampling: content.sampling,
    ...(content.toolChoice === undefined ? {} : { toolChoice: content.toolChoice }),
    instructionsHash: content.instructions === undefined ? null : sha256Hex(content.instructions),
    toolsHash: await hashed(content.tools),
    responseFormatHash: await hashed(content.responseFormat),
    limits: limitsOf(request),
    includeNativeResponse: request.includeNativeResponse,
    credentialId: target.credentialId,
    model: target.isListed ? model : null,
    billingMode: "byok",
    serviceFeeBps: 0,
    pricingVersion: PRICING_VERSION,
    externalRef: request.externalRef ?? null,
    tags: request.tags,
    metadata: request.metadata,
    correlationId: request.correlationId ?? null,
    dataClassification: context.dataClassification,
    retentionRequirement: context.retentionRequirement,
    contentKeptMs: keptMs(context.retentionRequirement, project.settings, limitOf(project, "historyDays")),
  };
  const before = await sharedTokens(model, content);
  const isCached = writesCache(model, content);
  return {
    plan,
    target,
    content,
    isTest: target.credentialId === null,
    async bound(input) {
      await checkLength(target, content.instructions ?? "", input);
      const inputTokens = before + (await messageTokensAtMost(model, input));
      const bound = boundOf(model, tier, {
        inputTokens,
        ...(isCached ? { cacheWriteTokens: inputTokens } : {}),
        outputTokens,
      });
      const { maximumMicros } = bound;
      const credentialIds = plan.credentialId === null ? [] : [plan.credentialId];
      await checkGuardrail(project, environment, { billingMode: "byok", maximumMicros, credentialIds });
      return { ...bound, warnings: checkCeilings(maximumMicros, request) };
    },
  };
}

/** Flex is used only if requested, and only for models that have it. Nothing falls back to standard. */
function tierOf({ processing }: SharedRequest, { api, model }: PinTarget): Tier {
  if (processing === "standard") return "standard";
  if (api.canDefer && model.supports.deferred) return "flex";
  throw new ValidationFault([
    {
      loc: ["body", "processing"],
      msg: `${model.id} does not support deferred processing at this interface.`,
      type: "unsupported",
    },
  ]);
}

/**
 * The interface alone makes the body. Anything that it does not support is refused at the caller's own field.
 */
function bodyOf({ api, model }: PinTarget, content: Parameters<PinTarget["api"]["body"]>[0], tier: Tier) {
  try {
    return api.body(content, model, tier);
  } catch (cause) {
    if (!(cause instanceof PinRefusal)) throw cause;
    throw new ValidationFault([{ loc: ["body", ...cause.at], msg: cause.message, type: "unsupported" }]);
  }
}

/** The maximum output of the answer in tokens. Throws if neither the request nor the model limits it. */
function mostOutput({ sampling }: SharedRequest, { id, maxOutputTokens }: ModelFacts): number {
  const most = sampling?.maxOutputTokens ?? maxOutputTokens;
  if (most !== undefined) return most;
  throw new ValidationFault([
    {
      loc: ["body", "sampling", "maxOutputTokens"],
      msg: `The output limit of ${id} is unknown. Set it in the request, so that the cost has an upper bound.`,
      type: "missing",
    },
  ]);
}

/** Tokens of everything that is sent along with each input. */
async function sharedTokens(model: ModelFacts, content: SharedContent): Promise<number> {
  const { instructions, responseFormat, tools, toolChoice } = content;
  const { tokens } = await inputTokensAtMost(model, {
    messages: instructions === undefined ? [] : [{ role: "system", content: instructions }],
    responseFormat: responseFormat ?? { type: "text" },
    ...(tools || toolChoice !== undefined
      ? { tools: [...(tools ?? []), { toolChoice: toolChoice ?? null }] }
      : {}),
  });
  return tokens;
}

/**
 * True if a tool is marked for the vendor's cache. Tools are sent unchanged, so the mark is refused if the
 * model has no price for cache writes.
 */
function writesCache({ id, price }: ModelFacts, { tools = [] }: SharedContent): boolean {
  const place = tools.findIndex(isMarked);
  if (place < 0 || statesCacheWrites(price)) return place >= 0;
  throw new ValidationFault([
    {
      loc: ["body", "tools", place, "cache_control"],
      msg: `${id} has no price for cache writes. Leave cache_control out.`,
      type: "unsupported",
    },
  ]);
}

/** Estimates on the requested tier, and holds at the standard price, whatever tier the vendor reports. */
function boundOf(
  model: ModelFacts,
  tier: Tier,
  tokens: { inputTokens: number; cacheWriteTokens?: number; outputTokens: number },
): Bound {
  const estimatedMicros = priceAtMost(model.price, tokens, { tier });
  const maximumMicros = priceAtMost(model.price, tokens, { tier: "standard" });
  if (estimatedMicros === null || maximumMicros === null)
    throw new ValidationFault([
      {
        loc: ["body", "pin", "model"],
        msg: `The price of ${model.id} is unknown, so its cost cannot be estimated.`,
        type: "unknown_price",
      },
    ]);
  return { estimatedMicros, maximumMicros };
}

async function checkLength({ provider, model }: PinTarget, instructions: string, input: string) {
  const maxTokens = model.contextWindow;
  if (maxTokens === undefined) return;
  const actualTokens = await tokensAbove(model, [instructions, input], maxTokens);
  if (actualTokens === null) return;
  fail(
    "PromptTooLong",
    `${instructions ? "Instructions and input have" : "The input has"} up to ${actualTokens} tokens, and ${model.id} accepts at most ${maxTokens}. Shorten it: nothing is trimmed automatically.`,
    {
      field: "input",
      measurement: "tokens",
      overflow: "reject",
      actualTokens,
      maxTokens,
      capabilityKey: CAPABILITY,
      provider: provider.name,
      modelId: model.id,
      retryable: false,
    },
  );
}

/** Checks the call's own ceilings. A ceiling under its shorter name is refused by that name. */
function checkCeilings(maximumMicros: Micros, { execution, budget }: SharedRequest) {
  const long = execution?.executionConstraints?.maxCostUsd;
  const maxCostUsd = long ?? execution?.maxCostUsd;
  return checkCallCeiling(
    maximumMicros,
    { budget, execution: { executionConstraints: { autoSelect: false, maxCostUsd } } },
    typeof long === "number" ? undefined : "execution.maxCostUsd",
  );
}

/** Prepares content to be stored from now on, under the retention of its plan. */
export const keptUnder = (plan: PinnedPlan, content: string, now: Date): KeptContent =>
  toContentRow(
    content,
    isKeptSealed(plan.dataClassification, plan.retentionRequirement),
    keptUntil(plan.contentKeptMs, now),
  );
