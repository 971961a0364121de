import type { Capability } from "@/server/capabilities/define";
import { NO_ADAPTERS, type Resolved, resolveAdapters } from "@/server/domain/adapters";
import { isFunded, recentFunds } from "@/server/domain/billing";
import {
  canDefer,
  chooseRoute,
  connectUrlOf,
  dependsOnFunds,
  healthNow,
  type Route,
} from "@/server/domain/catalog";
import { connectionsOf } from "@/server/domain/connections";
import type { InputReach } from "@/server/domain/inputs";
import type { Json } from "@/server/platform/durable/step";
import type { AnyCall, ModelFacts } from "@/server/providers/define";
import type { Maker } from "@/server/providers/maker-tag";
import { forMaker } from "./brought-back";
import { checkCallCeiling } from "./ceilings";
import { withCheapestRoute } from "./cheapest";
import { type Estimate, estimate, FREE, type ProcessingMode } from "./estimate";
import { withFaults } from "./faults";
import { capSync, checkConstraints, parseInput } from "./input";
import {
  billingModeOf,
  callOptions,
  leastRating,
  type RoutingRequest,
  requestedTarget,
} from "./routing-request";
import { type Seal, sealsOf } from "./seal";
import { findSources, materialize } from "./sources";
import { assignNames, estimateStages, requestStages, withStages } from "./stages";
import { cacheWarnings, checkSupport, refuseModelWords, unsupportedBy } from "./support";

export type ExecutionPlan = {
  capability: Capability;
  /** Parsed by the capability's schema, with defaults filled in. */
  input: unknown;
  /** Null for work that runs here. */
  route: Route | null;
  call: AnyCall | null;
  /** Data that the capability prepared for its call. */
  material: unknown;
  /** The adapters of the input, as resolved now. */
  adapters: Resolved;
  estimate: Estimate;
  /** Hashes everything that prices or routes, for the seal of a quote. Computed on demand. */
  seal: () => Promise<Seal>;
  /** The hash of that seal alone, for a submission without a quote. */
  sealHash: () => Promise<string>;
  warnings: Record<string, Json>[];
  /** Adds the cheapest fitting route to a refusal that this plan's price caused. */
  suggest: (refusal: unknown) => Promise<unknown>;
};

/** Project and environment of a request, and the artifacts that its input may name. */
export type PlannedFor = { id: string; environment: string } & Pick<InputReach, "outputsOf">;

/**
 * Plans a request: parses and measures its input, selects a route, builds the call, bounds its price and
 * checks that against the caller's own ceilings. A refusal by such a ceiling names the cheapest route.
 * Writes nothing.
 */
export async function planExecution(
  capability: Capability,
  project: PlannedFor,
  wanted: RoutingRequest,
  mode: Mode = "durable",
): Promise<ExecutionPlan> {
  const plan = await planWithin(capability, project, wanted, mode);
  const { input, adapters, material, estimate } = plan;
  const suggest = (refusal: unknown) =>
    withCheapestRoute(refusal, estimate, { ...wanted, parsedInput: input, adapters, material }, (other) =>
      planWithin(capability, project, other, mode),
    );
  try {
    const ofCeilings = checkCallCeiling(estimate.maximumMicros, wanted);
    return { ...plan, suggest, warnings: [...plan.warnings, ...ofCeilings] };
  } catch (refusal) {
    throw await suggest(refusal);
  }
}

type PlanWithin = Omit<ExecutionPlan, "suggest">;
type Mode = "durable" | "sync";

/** Plans a request without a check of the caller's ceilings. */
async function planWithin(
  capability: Capability,
  project: PlannedFor,
  wanted: RoutingRequest,
  mode: Mode,
): Promise<PlanWithin> {
  const parsed = wanted.parsedInput ?? parseInput(capability, wanted.input);
  const input = mode === "sync" ? capSync(capability, parsed) : parsed;
  const { execute: execution } = capability;
  if ("local" in execution) return planHere(capability, project, wanted, input);
  const billingMode = billingModeOf(wanted, execution.credentialSource?.(input));
  const found = await findRoute(capability, project, { wanted, input, billingMode });
  const { route, adapters } = found;
  const options = callOptions(wanted);
  const reach = { projectId: project.id, outputsOf: project.outputsOf };
  const material = wanted.material ?? (await materialize(reach, capability, { input, options }));
  const { call, rewrites } = withFaults(() =>
    forMaker(execution.call(input, options, route.model, material), makerOf(route)),
  );
  await checkConstraints(capability, input, route, call);
  return {
    capability,
    input,
    route,
    call,
    material,
    adapters,
    estimate: await priceOf(capability, wanted, { ...found, input, call, rewrites, material, mode, project }),
    ...sealsOf({ capabilityKey: capability.key, project, billingMode, wanted, adapters }),
    warnings: "messages" in call ? cacheWarnings(call, route) : [],
  };
}

/** Plans work that runs here, without a model. */
async function planHere(
  capability: Capability,
  project: PlannedFor,
  wanted: RoutingRequest,
  input: unknown,
): Promise<PlanWithin> {
  const billingMode = billingModeOf(wanted, undefined);
  refuseModelWords(capability, wanted);
  await findSources({ projectId: project.id, outputsOf: project.outputsOf }, capability, input);
  const adapters = NO_ADAPTERS;
  return {
    capability,
    input,
    route: null,
    call: null,
    material: undefined,
    adapters,
    estimate: FREE,
    ...sealsOf({ capabilityKey: capability.key, project, billingMode, wanted, adapters }),
    warnings: [],
  };
}

type Found = Awaited<ReturnType<typeof findRoute>>;

/** Selects the route, and returns the lookups that the selection needed. */
async function findRoute(
  capability: Capability,
  project: PlannedFor,
  {
    wanted,
    input,
    billingMode,
  }: { wanted: RoutingRequest; input: unknown; billingMode: ReturnType<typeof billingModeOf> },
) {
  const [connections, adapters, isBehind] = await Promise.all([
    connectionsOf(project),
    wanted.adapters ?? adaptersOf(capability, project, input),
    healthNow(wanted.now ?? new Date()),
  ]);
  const stages = requestStages(capability, input);
  const { providerPin, preferredModel, autoSelect } = wanted.execution.executionConstraints;
  const asked = { pin: wanted.pin?.target, providerPin, preferredModel, autoSelect };
  const names =
    stages.length > 0 ? assignNames(capability, stages, asked, connections) : { main: asked, stages: {} };
  const wish = {
    billingMode,
    ...names.main,
    maturity: leastRating(wanted.maturity),
    supports: (model: ModelFacts) => unsupportedBy(model, wanted) === null,
    streams: isShownEarly(wanted),
    isFunded: wanted.isFunded,
    connections,
    only: adapters.only,
    isBehind,
  };
  const route = chooseRoute(capability, input, wish, connectUrlOf(project));
  checkSupport(capability, route, wanted, connections);
  return { route, connections, adapters, stages, names, isAsAsked: names.main === asked };
}

/** Model and account of a route, in the form that ids of answers use. */
const makerOf = ({ account, provider, model }: Route): Maker => ({
  credentialId: typeof account === "object" ? account.credentialId : undefined,
  provider: provider.name,
  model: model.id,
});

/** True if the caller reads the answer while it is being written. */
const isShownEarly = ({ executionMode, readerDelivery }: RoutingRequest) =>
  executionMode === "Stream" || Boolean(readerDelivery);

type Priced = Found & {
  input: unknown;
  call: AnyCall;
  rewrites: Estimate["rewrites"];
  material: unknown;
  mode: Mode;
  project: PlannedFor;
};

/** Prices the call and the stages before it. */
async function priceOf(
  capability: Capability,
  wanted: RoutingRequest,
  { input, call, rewrites, material, mode, project, ...found }: Priced,
): Promise<Estimate> {
  const { route, connections, adapters, stages, names, isAsAsked } = found;
  const processing = processingOf(capability, route, wanted, mode);
  // Several answers exclude a repair: none of them is returned to the model.
  const isOne = (wanted.conversation?.settings?.choices ?? 1) === 1;
  const mayRepair = !isShownEarly(wanted) && isOne && canRepair(capability, input, route, material);
  const priced: Estimate = {
    ...(await estimate(capability, { input, route, call, processing, mayRepair })),
    requestedTarget: isAsAsked ? requestedTarget(wanted) : null,
    rewrites: [...rewritesOf(wanted.input, call), ...rewrites],
    ...(adapters.adapters.length > 0
      ? { adapters: { used: adapters.adapters, isDefault: adapters.isDefault } }
      : {}),
  };
  const before = await estimateStages(capability, {
    input,
    stages,
    main: route,
    wish: { maturity: leastRating(wanted.maturity), isFunded: wanted.isFunded, connections, ...names.stages },
    material,
    connectUrl: connectUrlOf(project),
  });
  return stages.length > 0 ? withStages(priced, before.estimates, before.isExact) : priced;
}

/**
 * Resolves the adapters that an input names, or the project's default; does nothing for a capability
 * without adapters.
 */
function adaptersOf(
  capability: Capability,
  project: { id: string; environment: string },
  input: unknown,
): Resolved | Promise<Resolved> {
  if (!capability.adapters) return NO_ADAPTERS;
  const place = { projectId: project.id, environment: project.environment };
  return resolveAdapters(place, capability.adapters(input), capability.key);
}

/**
 * True if an unfit answer may be returned to the model once. Polled models are excluded: their two
 * answers would not be one attempt.
 */
function canRepair(
  { execute }: Capability,
  input: unknown,
  { provider, model }: Route,
  material: unknown,
): boolean {
  if ("local" in execute || !execute.repair || provider[execute.port]?.poll) return false;
  return execute.repair.mayBeNeeded(input, model, material);
}

/**
 * Durable work is deferred if its route allows that, unless the caller reads the answer while it is being
 * written.
 */
function processingOf(
  capability: Capability,
  route: Route,
  { readerDelivery }: RoutingRequest,
  mode: Mode,
): ProcessingMode {
  const waits = mode === "durable" && !readerDelivery && canDefer(capability, route);
  return waits ? "deferred" : "standard";
}

const REWRITTEN = ["maxOutputTokens", "width", "height", "quality", "durationMs"] as const;

/**
 * Lists fields whose sent value differs from the caller's: filled in limits and defaults, and sizes that
 * the model supports.
 */
function rewritesOf(input: Record<string, Json>, call: AnyCall): Estimate["rewrites"] {
  const sent = call as Partial<Record<(typeof REWRITTEN)[number], string | number>>; // other ports lack these fields
  return REWRITTEN.flatMap((field) => {
    const to = sent[field];
    return to === undefined || to === input[field]
      ? []
      : [{ field: `input.${field}`, from: input[field] ?? null, to }];
  });
}

/**
 * True if the organization has funds for the operator's accounts. Undefined if funds cannot change the route.
 * The answer may be one second old, and reading it reserves nothing.
 */
export async function fundedFor(
  capability: Capability,
  organizationId: string,
  wanted: Pick<RoutingRequest, "execution" | "pin">,
): Promise<boolean | undefined> {
  const isDecided = wanted.execution.billingMode || wanted.execution.credentialSource || wanted.pin;
  if (isDecided || !dependsOnFunds(capability)) return undefined;
  return isFunded(await recentFunds(organizationId, false));
}
