import type { Capability } from "@/server/capabilities/define";
import type { CapabilityDescriptor, ExecutionTargetList } from "@/server/contract/capabilities";
import { JsonObject } from "@/server/contract/common";
import { type BoundConnection, isConnectable } from "@/server/domain/connections";
import { feeBpsOf, priceExamples, pricingContract } from "./pricing/pricing";
import { runHintOf } from "./run-hint";
import { registerInSandbox } from "./sandbox-adapter";
import { publish } from "./schema";
import {
  availabilityOf,
  canDefer,
  canStream,
  offersOf,
  placeOfAccount,
  routeKey,
  SHUT,
  type Target,
  targetsAbleTo,
  targetsOfPort,
} from "./targets";

const isInfrastructure = (capability: Capability) => capability.family === "domain";
const isLocal = (capability: Capability) => "local" in capability.execute;

export function toCapabilitySummary(capability: Capability) {
  return {
    key: capability.key,
    title: capability.title,
    description: capability.description,
    modality: capability.modality,
    family: capability.family,
    executionModes: capability.modes,
  };
}

/** A project's connections; null describes what this deployment offers to anyone. */
type Connected = readonly BoundConnection[] | null;

/** Tells which billing modes a project can use now, or without a project, which ones it could have here. */
function offersTo(capability: Capability, connections: Connected) {
  const targets = targetsOfPort(capability, connections ?? []);
  const modes = new Set(targets.flatMap((target) => availabilityOf(target, connections ?? []).billingModes));
  const couldConnect = targets.some(({ provider }) => isConnectable(provider));
  return { managed: modes.has("managed"), byok: modes.has("byok") || (!connections && couldConnect) };
}

/** The constraints that a request may set for any capability. */
const CONSTRAINTS = {
  maxCostUsd: true,
  providerPin: true,
  preferredModel: true,
  autoSelect: true,
  budgetEnforcement: true,
};

/**
 * Returns the whole published description of a capability. `signedIn` adds what only the panel needs. With connections
 * the description is that of their project, and it tells if its executions may not leave for providers.
 */
export function describeCapability(
  capability: Capability,
  signedIn: boolean,
  connections: Connected = null,
  mayLeave = true,
): CapabilityDescriptor {
  const context = signedIn ? "account" : "catalog_default";
  const offers = offersTo(capability, connections);
  const isShut =
    !mayLeave &&
    !isLocal(capability) &&
    firstOffer(targetsAbleTo(capability, connections ?? []), connections ?? [])?.account !== "sandbox";
  const priced = !isLocal(capability) && !isInfrastructure(capability);
  const billingMode = (mode: "byok" | "managed") => ({
    available: offers[mode],
    providerChargesIncluded: mode === "managed",
    providerChargesExternal: mode === "byok",
    serviceFeeBps: feeBpsOf(mode),
    pricing: pricingContract(capability, context, mode),
  });
  const pricing = {
    ...pricingContract(capability, context),
    examples: priceExamples(capability),
    ...(priced ? offers : {}),
  };
  const isJob = capability.modes.includes("job_async") && !capability.modes.includes("invoke_sync");
  const { http, exampleInput, cli, sdk, mcp } = runHintOf(capability);
  const inputSchema = publish(capability.input, "input");
  return {
    ...toCapabilitySummary(capability),
    category: capability.category,
    inputSchema,
    outputSchema: publish(capability.output, "output"),
    ...(signedIn
      ? { uiSchema: { order: Object.keys((inputSchema.properties as object | undefined) ?? {}) } }
      : {}),
    idempotencyRequired: false,
    idempotencyRecommended: true,
    estimateAvailable: pricing.quote.supported,
    descriptorAvailable: true,
    features: {
      ...capability.features,
      ...durableFeature(capability),
      ...deferredFeature(capability),
      ...readerFeature(capability),
      ...adaptersFeature(capability),
    },
    ...(capability.constraints ? { constraints: capability.constraints } : {}),
    ...(priced ? { billingModes: { byok: billingMode("byok"), managed: billingMode("managed") } } : {}),
    inputConstraints: capability.inputConstraints,
    inputMediaTypes: capability.inputMediaTypes,
    ...(isInfrastructure(capability)
      ? { credentialSources: ["platform", "customer"], defaultCredentialSource: "platform" }
      : {}),
    execution: {
      oneShot: true,
      managedInferenceAvailable: priced && offers.managed,
      inferenceProviderSetupRequired: priced && !offers.managed && !(connections && offers.byok),
      projectLocalRequired: false,
      estimateAvailable: pricing.quote.supported,
      trialEligible: capability.trialEligible,
      mode: capability.modes.includes("job_async") ? "job" : "invoke",
    },
    executionPreference: {
      supported: ["automatic"],
      constraints: { ...CONSTRAINTS, maxDurationSeconds: capability.modes.includes("job_async") },
    },
    output: { kind: capability.outputKind, mediaType: capability.outputMediaType },
    interaction: isShut
      ? { typicallyRequired: true, reason: SHUT }
      : { typicallyRequired: false, reason: null },
    funding: { mode: "managed", eligible: priced, status: "catalog_available" },
    readySummary: capability.readySummary,
    pricing,
    quoteTtlSeconds: pricing.quote.supported ? 900 : null,
    actionRisk: "read_only",
    minimumApproval: "never",
    intentExamples: capability.intentExamples,
    taskTags: capability.taskTags,
    synonyms: capability.synonyms,
    examples: capability.examples.map((each) => JsonObject.parse({ title: each.title, input: each.input })),
    nextAction: {
      kind: isJob ? "submit_job" : "invoke",
      endpoint: `${http.method} ${http.path}`,
      exampleInput,
      cli,
      sdk,
      mcp,
    },
    descriptorProjection: "describe",
  };
}

/**
 * Returns the descriptor as an item of the list: each billing mode also has its price examples, and the next
 * action has no code for clients.
 */
export function toCapabilityItem(
  capability: Capability,
  descriptor: CapabilityDescriptor,
): CapabilityDescriptor {
  const { kind, endpoint, exampleInput } = descriptor.nextAction;
  const { byok, managed } = descriptor.billingModes ?? {};
  const billingModes = byok &&
    managed && {
      byok: withExamples(byok, priceExamples(capability, "byok")),
      managed: withExamples(managed, priceExamples(capability, "managed")),
    };
  return {
    ...descriptor,
    ...(billingModes ? { billingModes } : {}),
    nextAction: { kind, endpoint, exampleInput },
    descriptorProjection: "list",
  };
}

const withExamples = <M extends { pricing: object }, E>(mode: M, examples: E) => ({
  ...mode,
  pricing: { ...mode.pricing, examples },
});

/** Partial output exists only for durable jobs that write plain text on a model that can stream. */
function readerDeliveryOf(capability: Capability, target: Parameters<typeof canStream>[0]) {
  const isText = capability.key.startsWith("text.") && capability.outputKind === "text";
  if (!isText || !capability.modes.includes("job_async"))
    return { supported: false, reason: "not_offered_by_capability" };
  return canStream(target)
    ? { supported: true, reason: null }
    : { supported: false, reason: "not_offered_by_route" };
}

/** Returns the deadlines of durable runs, with what the capability itself states about them. */
function durableFeature({ durable, features }: Capability): JsonObject {
  if (!durable) return { durableJob: { supported: false } };
  return {
    durableJob: {
      ...(features.durableJob as JsonObject | undefined),
      supported: true,
      defaultQueueDeadlineSeconds: durable.defaultQueueSeconds,
      maxQueueDeadlineSeconds: durable.maxQueueSeconds,
      defaultExecutionDeadlineSeconds: durable.defaultExecutionSeconds,
      maxExecutionDeadlineSeconds: durable.maxExecutionSeconds,
    },
  };
}

/** Returns how adapters are named, with the registration that lets the capability's example run. */
const adaptersFeature = ({ adapters, features }: Capability): JsonObject =>
  adapters
    ? JsonObject.parse({ adapters: { ...(features.adapters as object), ...registerInSandbox() } })
    : {};

function readerFeature(capability: Capability): JsonObject {
  const able = targetsOfPort(capability).filter((target) => readerDeliveryOf(capability, target).supported);
  if (able.length === 0) return {};
  const providers = [...new Set(able.map(({ provider }) => provider.name))];
  return {
    readerDelivery: {
      supported: true,
      processingTier: "standard",
      deferredDiscountApplies: false,
      providers,
    },
  };
}

/**
 * Describes the discount on token rates for work that may wait. Durable jobs get it by default, and pins on request.
 */
function deferredFeature(capability: Capability): JsonObject {
  if (isLocal(capability)) return {};
  const able = targetsOfPort(capability).filter((target) => discountOf(capability, target) > 0);
  if (able.length === 0) return { deferredProcessing: { available: false, discountBps: 0, appliesTo: [] } };
  const canPinsDefer = able.some(({ provider }) =>
    Object.values(provider.pins ?? {}).some(({ canDefer }) => canDefer),
  );
  return {
    deferredProcessing: {
      available: true,
      discountBps: Math.min(...able.map((target) => discountOf(capability, target))),
      appliesTo: ["job_async", ...(canPinsDefer ? ["pinned"] : [])],
      defaultFor: "job_async",
      ...(canPinsDefer ? { optInFor: "pinned" } : {}),
    },
  };
}

/** Returns the discount of one target for waiting, in basis points; 0 if it cannot wait or has none. */
function discountOf(capability: Capability, target: Parameters<typeof canStream>[0]): number {
  const { price } = target.model;
  if (!canDefer(capability, target) || price.per !== "million_tokens") return 0;
  return price.flexDiscountBps ?? 0;
}

/** Returns the offer that serves a request that names no model; undefined if there is none. */
export const firstOffer = (targets: readonly Target[], reach: readonly BoundConnection[]) =>
  targets
    .filter(({ model }) => !model.onlyByName)
    .flatMap((target) => offersOf(target, reach))
    .sort((a, b) => placeOfAccount(a.account) - placeOfAccount(b.account))[0];

/**
 * Returns the models that can do a capability. With connections they are listed as their project reaches them. If its
 * executions may not leave, providers' models are listed as unavailable.
 */
export function executionTargets(
  capability: Capability,
  connections: Connected = null,
  mayLeave = true,
): ExecutionTargetList {
  const reach = connections ?? [];
  const targets = targetsAbleTo(capability, reach);
  const first = firstOffer(targets, reach);
  const isFirst = (target: Target) => first !== undefined && routeKey(first) === routeKey(target);
  return {
    capabilityKey: capability.key,
    default: {
      selection: "unpinned",
      target: first ? `${first.provider.name}/${first.model.id}` : null,
    },
    targets: targets.map((target) => {
      const { account, billingModes, reason } = availabilityOf(target, reach);
      const isShut = !mayLeave && account !== null && account !== "sandbox";
      const { model, provider } = target;
      return {
        target: `${provider.name}/${model.id}`,
        provider: provider.name,
        model: model.id,
        title: model.title,
        default: isFirst(target),
        availability: isShut
          ? { available: false, billingModes: [], reason: SHUT }
          : { available: account !== null, billingModes, reason },
        contextWindowTokens: model.contextWindow ?? null,
        maxOutputTokens: model.maxOutputTokens ?? null,
        supports: Object.fromEntries(
          Object.entries(model.supports).map(([name, value]) => [name, Boolean(value)]),
        ),
        executionModes: capability.modes.filter((mode) => mode !== "invoke_stream" || canStream(target)),
        readerDelivery: readerDeliveryOf(capability, target),
        deferredProcessing: {
          available: canDefer(capability, target),
          discountBps: discountOf(capability, target),
        },
      };
    }),
  };
}
