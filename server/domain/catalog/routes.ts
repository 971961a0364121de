import type { Capability } from "@/server/capabilities/define";
import type { BillingMode } from "@/server/contract/common";
import { baseUrlOf, operatorCredentials } from "@/server/domain/credentials";
import { isSandboxOn } from "@/server/env";
import { fail } from "@/server/errors";
import { type MaturityRating, type ModelFacts, type Provider, RATINGS } from "@/server/providers/define";
import { providers } from "@/server/providers/registry.gen";

/** One way to run a capability: a model of a provider, the account that pays, and where it is reached. */
export type Route = {
  provider: Provider;
  model: ModelFacts;
  billingMode: BillingMode;
  /** operator: the deployment's own account. sandbox: no account at all. */
  account: "operator" | "sandbox";
  baseUrl: string;
  choice: RouteChoice;
};

/** Why this route: the rule that chose it, and what else the rule allowed. For the receipt. */
export type RouteChoice = {
  policy: "exact_pin" | "named_model" | "named_provider" | "automatic";
  reason:
    | "pinned"
    | "preferred_model"
    | "preferred_model_unavailable"
    | "model_in_input"
    | "first_of_provider"
    | "first_eligible";
  /** Every route the rule allowed at that moment, the chosen one first. */
  eligible: string[];
};

/** The rules of chooseRoute. A change of what they choose is another version. */
export const ROUTING_POLICY_VERSION = "routing_2026_11_1";

export type RouteWish = {
  billingMode?: BillingMode | null | undefined;
  /** `provider/model`, exactly, never substituted */
  pin?: string | null | undefined;
  providerPin?: string | null | undefined;
  preferredModel?: string | null | undefined;
  autoSelect?: boolean;
  /** Models whose provider's policy is lower are not chosen. */
  maturity?: MaturityRating | null;
  /** Does the model do what is asked beside the input? One that does goes first among its equals. */
  supports?(model: ModelFacts): boolean;
  /** Only models whose text can be followed as it is written. */
  streams?: boolean;
  /** false: nobody has paid for the operator's accounts, so the sandbox goes first where it is on. */
  isFunded?: boolean | undefined;
};

export const SANDBOX = "sandbox";
export const routeKey = (route: Pick<Route, "provider" | "model">) =>
  `${route.provider.name}/${route.model.id}`;
export const modelIds = (models: readonly Target[]) =>
  models.map((target) => `${target.provider.name}/${target.model.id}`);

export type Target = { provider: Provider; model: ModelFacts };

/** Every model that serves the capability's port, whether or not an account is there. */
export function targetsOf(capability: Capability): Target[] {
  const execution = capability.execute;
  if ("local" in execution) return [];
  return providers.flatMap((provider) =>
    provider.models.filter((model) => model.port === execution.port).map((model) => ({ provider, model })),
  );
}

/** Can this model's text be followed as it is written? */
export function canStream({ provider, model }: Target): boolean {
  return (model.supports.stream ?? false) && provider[model.port]?.stream !== undefined;
}

/** May durable work of this capability wait for the model's cheaper tier? */
export function canDefer(capability: Capability, { model }: Pick<Target, "model">): boolean {
  const { execute, modes } = capability;
  const isText = "port" in execute && execute.port === "text";
  return isText && modes.includes("job_async") && (model.supports.deferred ?? false);
}

/** How a target can be reached now, or why not. */
export function availabilityOf(target: Target): {
  account: Route["account"] | null;
  billingModes: BillingMode[];
  reason: string | null;
} {
  const isSandbox = target.provider.name === SANDBOX;
  if (!baseUrlOf(target.provider)) return { account: null, billingModes: [], reason: "base_url_missing" };
  if (isSandbox) {
    return isSandboxOn
      ? { account: "sandbox", billingModes: ["byok", "managed"], reason: null }
      : { account: null, billingModes: [], reason: "sandbox_off" };
  }
  return operatorCredentials(target.provider)
    ? { account: "operator", billingModes: ["managed"], reason: null }
    : { account: null, billingModes: [], reason: "connection_required" };
}

/**
 * Would it change the route whether the organization has funds? Only where both the operator's account and the sandbox could
 * serve; everywhere else nobody has to look.
 */
export function dependsOnFunds(capability: Capability): boolean {
  if (!isSandboxOn) return false;
  const accounts = targetsOf(capability).map((target) => availabilityOf(target).account);
  return accounts.includes("operator") && accounts.includes("sandbox");
}

/** The highest rating of content a model may be asked for. */
export const maturityAllowed = ({ provider, model }: Target): MaturityRating =>
  model.maturity ?? provider.maturity;

const isAtLeast = (allowed: MaturityRating, asked: MaturityRating) =>
  RATINGS.indexOf(allowed) >= RATINGS.indexOf(asked);

/** Some inputs have a field for the model; `auto` leaves the choice to us. */
function isNamedIn(input: unknown): boolean {
  const { model, modelId } = input as { model?: unknown; modelId?: unknown }; // every input is an object
  return [model, modelId].some((named) => typeof named === "string" && named !== "auto");
}

/** The rule a wish falls under. */
function ruleOf(
  wish: RouteWish,
  input: unknown,
  isSubstitute: boolean,
): Pick<RouteChoice, "policy" | "reason"> {
  if (wish.pin) return { policy: "exact_pin", reason: "pinned" };
  if (isSubstitute) return { policy: "named_model", reason: "preferred_model_unavailable" };
  if (wish.preferredModel) return { policy: "named_model", reason: "preferred_model" };
  if (isNamedIn(input)) return { policy: "named_model", reason: "model_in_input" };
  if (wish.providerPin) return { policy: "named_provider", reason: "first_of_provider" };
  return { policy: "automatic", reason: "first_eligible" };
}

/**
 * Chooses the route of an execution. A pin is taken exactly or refused; a provider or model asked for is taken or
 * refused, unless autoSelect allows another when the preferred model is not there. Otherwise: a real account first (the
 * operator's only where the organization is funded), the sandbox when it is on, models in the order their provider lists them.
 * Throws ROUTE_UNAVAILABLE with alternates, CONNECTION_REQUIRED when only an account is missing (and the model is not
 * pinned), or PolicyRejected when no route that is left may be asked for content this mature.
 */
export function chooseRoute(
  capability: Capability,
  input: unknown,
  wish: RouteWish,
  connectUrl: string,
): Route {
  const execution = capability.execute;
  if ("local" in execution) throw new Error(`${capability.key} runs here and has no route`);
  const fits = (target: Target) =>
    (!wish.streams || canStream(target)) && (execution.accepts?.(input as never, target.model) ?? true); // parsed by this capability's own schema
  const targets = targetsOf(capability).filter(fits);
  const reachable = targets.filter(({ provider, model }) => {
    const { account, billingModes } = availabilityOf({ provider, model });
    return account !== null && (!wish.billingMode || billingModes.includes(wish.billingMode));
  });
  const isDefault = ({ model }: Target) => !model.onlyByName;
  const named = (candidates: Target[]) =>
    candidates.filter(
      (target) =>
        (!wish.pin || `${target.provider.name}/${target.model.id}` === wish.pin) &&
        (!wish.providerPin || target.provider.name === wish.providerPin) &&
        (!wish.preferredModel || target.model.id === wish.preferredModel),
    );
  const isNamed = Boolean(wish.pin || wish.preferredModel || isNamedIn(input));

  let isSubstitute = false;
  let candidates = named(reachable).filter((target) => isNamed || isDefault(target));
  if (candidates.length === 0 && wish.preferredModel && wish.autoSelect && !wish.pin) {
    isSubstitute = true;
    candidates = reachable.filter(
      (target) => isDefault(target) && (!wish.providerPin || target.provider.name === wish.providerPin),
    );
  }
  const { maturity, supports } = wish;
  if (maturity && candidates.length > 0) {
    const isAllowed = (target: Target) => isAtLeast(maturityAllowed(target), maturity);
    const highest = Math.max(...candidates.map((target) => RATINGS.indexOf(maturityAllowed(target))));
    candidates = candidates.filter(isAllowed);
    if (candidates.length === 0 && wish.preferredModel && wish.autoSelect && !wish.pin) {
      candidates = reachable.filter(
        (target) =>
          isDefault(target) &&
          isAllowed(target) &&
          (!wish.providerPin || target.provider.name === wish.providerPin),
      );
    }
    if (candidates.length === 0) {
      fail(
        "PolicyRejected",
        `No provider that may run this allows content rated ${maturity}; the highest is ${RATINGS[highest]}.`,
        {
          field: "maturityRating",
          requested: maturity,
          highest: RATINGS[highest] ?? null,
          alternates: modelIds(reachable.filter((target) => isDefault(target) && isAllowed(target))),
        },
      );
    }
  }
  const place = (target: Target) =>
    target.provider.name === SANDBOX
      ? 1
      : wish.isFunded === false && availabilityOf(target).account === "operator"
        ? 2
        : 0;
  const rank = (target: Target) => 2 * place(target) + Number(supports ? !supports(target.model) : false);
  const preference = ({ model }: Target) => execution.prefers?.(input as never, model) ?? 0; // parsed by this capability's own schema
  candidates.sort((a, b) => rank(a) - rank(b) || preference(b) - preference(a));
  const chosen = candidates[0];
  if (chosen) {
    const { account, billingModes } = availabilityOf(chosen);
    return {
      ...chosen,
      account: account!,
      billingMode:
        wish.billingMode ?? (account === "operator" || billingModes.includes("managed") ? "managed" : "byok"),
      baseUrl: baseUrlOf(chosen.provider)!,
      choice: { ...ruleOf(wish, input, isSubstitute), eligible: modelIds(candidates) },
    };
  }

  const alternates = modelIds(reachable.filter(isDefault));
  const unreachable = named(targets)[0];
  if (
    !wish.pin &&
    unreachable &&
    availabilityOf(unreachable).reason === "connection_required" &&
    unreachable.provider.name !== SANDBOX
  ) {
    fail("CONNECTION_REQUIRED", `No account of ${unreachable.provider.title} is connected to this project.`, {
      connectUrl,
      provider: unreachable.provider.name,
    });
  }
  if (!wish.pin && targets.length > 0 && reachable.length === 0) {
    fail("CONNECTION_REQUIRED", "No provider account is connected that can run this capability.", {
      connectUrl,
    });
  }
  routeUnavailable(alternates, wish);
}

/** What was asked for by name is not there; nothing else is taken in its place. */
export function routeUnavailable(
  alternates: string[],
  { pin, preferredModel, providerPin }: Pick<RouteWish, "pin" | "preferredModel" | "providerPin">,
): never {
  const constraint = preferredModel ? "preferredModel" : providerPin ? "providerPin" : null;
  const field = pin ? "pin.target" : constraint && `execution.executionConstraints.${constraint}`;
  fail("ROUTE_UNAVAILABLE", "The model or provider that was asked for cannot run this request.", {
    alternates,
    ...(field ? { field } : {}),
  });
}
