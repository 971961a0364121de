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
import { connectionsOf } from "@/server/domain/credentials";
import type { InputReach } from "@/server/domain/inputs";
import type { AnyCall } from "@/server/providers/define";
import type { Json } from "@/server/step";
import { checkCallCeiling } from "./ceilings";
import { type Estimate, estimate, FREE, type Processing } from "./estimate";
import { capSync, checkConstraints, parseInput } from "./input";
import { ruled } from "./ruled";
import { type Seal, sealOf } from "./seal";
import { findSources, materialize } from "./sources";
import { estimateStages, namesOf, stagesOf, withStages } from "./stages";
import { checkSupport, refuseModelWords, unsupportedBy } from "./support";
import { billingModeOf, callOptions, leastRating, requestedTarget, type Wanted } from "./wanted";

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
  seal: () => Promise<Seal>;
  warnings: Record<string, Json>[];
};

/** Where a request runs, and what its input may name there. */
export type PlannedFor = { id: string; environment: string } & Pick<InputReach, "outputsOf">;

/**
 * Reads a request against the catalog: input parsed and measured, a route chosen, the call made, its price bounded
 * and held against the caller's own ceilings. Writes nothing.
 */
export async function planExecution(
  capability: Capability,
  project: PlannedFor,
  wanted: Wanted,
  mode: "durable" | "sync" = "durable",
): Promise<ExecutionPlan> {
  const parsed = wanted.parsedInput ?? parseInput(capability, wanted.input);
  const input = mode === "sync" ? capSync(capability, parsed) : parsed;
  const constraints = wanted.execution.executionConstraints;
  const { execute: execution } = capability;
  const inInput = "local" in execution ? undefined : execution.credentialSource?.(input as never); // parsed by this capability's own schema
  const billingMode = billingModeOf(wanted, inInput);
  if ("local" in execution) {
    refuseModelWords(capability, wanted);
    await findSources({ projectId: project.id, outputsOf: project.outputsOf }, capability, input);
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
  checkConstraints(capability, input, route, wanted.conversation ?? undefined);
  checkSupport(capability, route, wanted, connections);
  const options = callOptions(wanted);
  const material = await materialize(
    { projectId: project.id, outputsOf: project.outputsOf },
    capability,
    input,
    options,
  );
  const call = ruled(
    () => execution.call(input as never, options, route.model, material as never), // parsed by this capability's own schema
  );
  const processing = processingOf(capability, route, wanted, mode);
  const isTold = wanted.executionMode === "Stream" || Boolean(wanted.readerDelivery);
  // Of several answers none is given back.
  const isOne = (wanted.conversation?.settings?.choices ?? 1) === 1;
  const mayRepair = !isTold && isOne && canRepair(capability, input, route, material);
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
