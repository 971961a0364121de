import { type Capability, type Stage, stageAsCapability } from "@/server/capabilities/define";
import {
  chooseRoute,
  namedBy,
  type Route,
  type RouteWish,
  SANDBOX,
  serviceFee,
  targetsOfPort,
} from "@/server/domain/catalog";
import { type Estimate, estimate, type StageEstimate } from "./estimate";
import { withFaults } from "./faults";

/** Returns the stages of a request; most capabilities have none. */
export function requestStages(capability: Capability, input: unknown): Stage<unknown, unknown>[] {
  const { execute } = capability;
  return "local" in execute ? [] : (execute.stages?.(input) ?? []);
}

/** The part of a wish that names a model or a provider. */
type NamedRoute = Pick<RouteWish, "pin" | "providerPin" | "preferredModel" | "autoSelect">;

/**
 * Assigns the names in the request. They apply to the main call, unless none of its models matches and one
 * of a stage does; then they apply to the stages.
 */
export function assignNames(
  capability: Capability,
  stages: Stage<unknown, unknown>[],
  names: NamedRoute,
  connections: RouteWish["connections"],
): { main: NamedRoute; stages: NamedRoute } {
  const isCalledSo = (each: Capability) => namedBy(names, targetsOfPort(each, connections)).length > 0;
  const areForStages =
    !isCalledSo(capability) && stages.some((stage) => isCalledSo(stageAsCapability(capability, stage)));
  return areForStages ? { main: {}, stages: names } : { main: names, stages: {} };
}

/**
 * Routes and prices the calls before the main one. They use the same billing mode and the same kind of
 * money, real or test, as the main call.
 */
export async function estimateStages(
  capability: Capability,
  {
    input,
    stages,
    main,
    wish,
    material,
    connectUrl,
  }: {
    input: unknown;
    stages: Stage<unknown, unknown>[];
    main: Route;
    wish: Pick<RouteWish, "maturity" | "isFunded" | "connections"> & NamedRoute;
    material: unknown;
    connectUrl: string;
  },
): Promise<{ estimates: StageEstimate[]; isExact: boolean }> {
  const estimates: StageEstimate[] = [];
  let isExact = true;
  for (const stage of stages) {
    const own = stageAsCapability(capability, stage);
    const isSandbox = main.provider.name === SANDBOX;
    const route = chooseRoute(own, input, { ...wish, billingMode: main.billingMode, isSandbox }, connectUrl);
    const call = withFaults(() => stage.execute.call(input, {}, route.model, material));
    const priced = await estimate(own, { input, route, call });
    if (!priced.route) throw new Error(`the stage ${stage.name} has no route`);
    isExact &&= priced.qualifier === "exact" && !stage.isNeeded;
    estimates.push({
      name: stage.name,
      isOptional: stage.isNeeded !== undefined,
      route: priced.route,
      ...(priced.account ? { account: priced.account } : {}),
      choice: priced.choice,
      requestedTarget: wish.pin ?? wish.preferredModel ?? null,
      expectedUpstreamMicros: stage.isNeeded ? 0 : priced.expectedUpstreamMicros,
      maximumUpstreamMicros: priced.maximumUpstreamMicros,
      bounds: priced.bounds,
    });
  }
  return { estimates, isExact };
}

/** Combines the costs of the main call and its stages, with one fee on the total. */
export function withStages(main: Estimate, stages: StageEstimate[], isExact: boolean): Estimate {
  const sum = (pick: (each: StageEstimate) => number) =>
    stages.reduce((total, each) => total + pick(each), 0);
  const expected = main.expectedUpstreamMicros + sum((each) => each.expectedUpstreamMicros);
  const maximum = main.maximumUpstreamMicros + sum((each) => each.maximumUpstreamMicros);
  return {
    ...main,
    qualifier: main.qualifier === "exact" && isExact ? "exact" : "upper_bound",
    expectedUpstreamMicros: expected,
    maximumUpstreamMicros: maximum,
    expectedMicros: expected + serviceFee(expected, main.serviceFeeBps),
    maximumMicros: maximum + serviceFee(maximum, main.serviceFeeBps),
    stages,
  };
}
