import type { Capability } from "@/server/capabilities/define";
import type { BillingMode } from "@/server/contract/common";
import type { BoundConnection } from "@/server/domain/connections";
import { fail } from "@/server/platform/errors/errors";
import { type ContentRating, type ModelFacts, RATINGS } from "@/server/providers/define";
import {
  type Account,
  allowsMaturity,
  availabilityOf,
  canStream,
  maturityAllowed,
  modelIds,
  offersOf,
  placeOfAccount,
  routeKey,
  SANDBOX,
  type Target,
  type TargetOffer,
  targetsOfPort,
} from "./targets";

/** A way to run a capability: a provider's model and the account that pays. */
export type Route = Target & { billingMode: BillingMode; account: Account; choice: RouteChoice };

/** The rule that chose a route, and the other routes that the rule allowed. The receipt shows it. */
type RouteChoice = {
  policy: "exact_pin" | "named_model" | "named_provider" | "automatic";
  reason:
    | "pinned"
    | "preferred_model"
    | "preferred_model_unavailable"
    | "model_in_input"
    | "first_of_provider"
    | "first_eligible"
    /** An earlier route in the order has kept failing lately. */
    | "first_healthy";
  /** Every route that the rule allowed at that time, the chosen one first. */
  eligible: string[];
};

/** The version of the rules of `chooseRoute`. It changes whenever they may choose differently. */
export const ROUTING_POLICY_VERSION = "routing_2026_11_3";

export type RouteWish = {
  billingMode?: BillingMode | null | undefined;
  /** Exactly this `provider/model`, which is never substituted. */
  pin?: string | null | undefined;
  providerPin?: string | null | undefined;
  preferredModel?: string | null | undefined;
  autoSelect?: boolean;
  /** A model whose provider allows only a lower rating is not chosen. */
  maturity?: ContentRating | null;
  /**
   * True if the model supports the settings that the request has beside its input. Among equals, a model that
   * supports them goes first.
   */
  supports?(model: ModelFacts): boolean;
  /** If true, only models whose text can be streamed are chosen. */
  streams?: boolean;
  /** The project's connections. */
  connections?: readonly BoundConnection[];
  /**
   * True if this route has kept failing lately with this account. Such a route goes behind its equals and is
   * never left out.
   */
  isBehind?(offer: TargetOffer): boolean;
  /** True allows only the sandbox, and false excludes it, because one execution is paid with one kind of money. */
  isSandbox?: boolean;
  /**
   * If set, only these `provider/model` routes are chosen. Other fields of the request may leave few routes, and
   * `because` tells why.
   */
  only?: { models: readonly string[]; because: string } | null;
  /** If false, no one has paid for the operator's accounts, so the sandbox goes before them if it is on. */
  isFunded?: boolean | undefined;
};

/** True if the input names a model. The value `auto` leaves the choice to us. */
function isNamedIn(input: unknown): boolean {
  const { model, modelId } = input as { model?: unknown; modelId?: unknown }; // every input is an object
  return [model, modelId].some((named) => typeof named === "string" && named !== "auto");
}

/** Returns the rule that applies to a wish. */
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
 * Chooses the route of an execution. A pin is taken exactly or refused. A requested provider or model is taken
 * or refused, unless `autoSelect` allows another if the preferred model is unavailable. Otherwise the order is:
 * the project's own accounts, then the operator's if the organization is funded, then the sandbox if it is on.
 * Within an account, models that satisfy the whole request go first, then healthy ones, then those that the
 * capability prefers for this input, and then in the order of the registry. Throws `ROUTE_UNAVAILABLE` with
 * alternates, `CONNECTION_REQUIRED` if only an account is missing and no model is pinned, or `PolicyRejected`
 * if no remaining route allows content of this rating.
 */
export function chooseRoute(
  capability: Capability,
  input: unknown,
  wish: RouteWish,
  connectUrl: string,
): Route {
  const execution = capability.execute;
  if ("local" in execution) throw new Error(`${capability.key} runs here and has no route`);
  const { connections, maturity, only } = wish;
  const fits = ({ model }: Target) => execution.fits?.(input, model) ?? true;
  const targets = targetsOfPort(capability, connections).filter(
    (target) =>
      (!wish.pin || fits(target)) &&
      (!only || only.models.includes(routeKey(target))) &&
      (!wish.streams || canStream(target)) &&
      (execution.accepts?.(input, target.model) ?? true),
  );
  const reachable = targets
    .filter(({ provider }) => wish.isSandbox === undefined || (provider.name === SANDBOX) === wish.isSandbox)
    .flatMap((target) => offersOf(target, connections))
    .filter(({ billingModes }) => !wish.billingMode || billingModes.includes(wish.billingMode));
  const isNamed = Boolean(wish.pin || wish.preferredModel || isNamedIn(input));
  const isDefault = ({ model }: Target) => !model.onlyByName;
  const isOfProvider = ({ provider }: Target) => !wish.providerPin || provider.name === wish.providerPin;
  const substitutes = reachable.filter((offer) => isDefault(offer) && isOfProvider(offer));
  const maySubstitute = Boolean(wish.preferredModel && wish.autoSelect && !wish.pin);

  let candidates = namedBy(wish, reachable).filter((offer) => isNamed || isDefault(offer));
  const isSubstitute = candidates.length === 0 && maySubstitute;
  if (isSubstitute) candidates = substitutes;
  if (maturity && candidates.length > 0) {
    const isAllowed = (target: Target) => allowsMaturity(maturityAllowed(target), maturity);
    const before = candidates;
    candidates = before.filter(isAllowed);
    if (candidates.length === 0 && maySubstitute) candidates = substitutes.filter(isAllowed);
    if (candidates.length === 0) tooMature(maturity, before, reachable.filter(isDefault).filter(isAllowed));
  }

  const place = placeOf(wish, fits);
  const preference = ({ model }: Target) => execution.prefers?.(input, model) ?? 0;
  // A route requested by name is taken even if it has failed lately.
  const behind = (offer: TargetOffer) => Number(!isNamed && (wish.isBehind?.(offer) ?? false));
  const order = (health: (offer: TargetOffer) => number) =>
    candidates.toSorted(
      (a, b) => place(a) - place(b) || health(a) - health(b) || preference(b) - preference(a),
    );
  const ordered = order(behind);
  const [chosen] = ordered;
  if (chosen) {
    const { account, billingModes, ...target } = chosen;
    const rule = ruleOf(wish, input, isSubstitute);
    const isPassedOver = order(() => 0)[0] !== chosen;
    return {
      ...target,
      account,
      billingMode: wish.billingMode ?? (billingModes.includes("managed") ? "managed" : "byok"),
      choice: {
        ...rule,
        ...(isPassedOver ? { reason: "first_healthy" } : {}),
        eligible: modelIds(ordered),
      },
    };
  }

  if (!wish.pin) {
    const missing = namedBy(wish, targets).find(
      (target) =>
        target.provider.name !== SANDBOX &&
        availabilityOf(target, connections).reason === "connection_required",
    );
    if (missing) connectionRequired(connectUrl, missing, only);
    if (targets.length > 0 && reachable.length === 0) connectionRequired(connectUrl, null, only);
  }
  // If the requested provider has no offer, no other model could help, so the error names the provider's field.
  const isProviderMissing = Boolean(wish.providerPin) && !reachable.some(isOfProvider);
  routeUnavailable(
    modelIds(reachable.filter(isDefault)),
    isProviderMissing ? { ...wish, preferredModel: undefined } : wish,
  );
}

/**
 * Returns the candidates that a wish names, or all of them if it names none. A preferred model is matched by its id,
 * and otherwise as the `provider/model` that refusals list, since an id may also have that form.
 */
export function namedBy<T extends Target>(
  { pin, providerPin, preferredModel }: Pick<RouteWish, "pin" | "providerPin" | "preferredModel">,
  candidates: readonly T[],
): readonly T[] {
  const of = candidates.filter(
    (target) => (!pin || routeKey(target) === pin) && (!providerPin || target.provider.name === providerPin),
  );
  if (!preferredModel) return of;
  const byId = of.filter(({ model }) => model.id === preferredModel);
  return byId.length > 0 ? byId : of.filter((target) => routeKey(target) === preferredModel);
}

/**
 * Ranks an offer by its account, then by whether the model supports all settings, then by whether it can follow
 * all hints of the input.
 */
function placeOf(
  { isFunded, supports }: RouteWish,
  fits: (target: Target) => boolean,
): (offer: TargetOffer) => number {
  return (offer) =>
    4 * placeOfAccount(offer.account, isFunded) +
    2 * Number(supports ? !supports(offer.model) : false) +
    Number(!fits(offer));
}

function tooMature(asked: ContentRating, refused: Target[], alternates: Target[]): never {
  const highest = Math.max(...refused.map((target) => RATINGS.indexOf(maturityAllowed(target))));
  fail(
    "PolicyRejected",
    `No available provider allows content rated ${asked}. The highest allowed rating is ${RATINGS[highest]}.`,
    {
      field: "maturityRating",
      requested: asked,
      highest: RATINGS[highest] ?? null,
      alternates: modelIds(alternates),
    },
  );
}

/** Throws `CONNECTION_REQUIRED` with a link to the form of the missing provider. */
function connectionRequired(connectUrl: string, missing: Target | null, only: RouteWish["only"]): never {
  if (!missing) {
    const message = withReason(
      "No connected provider account can run this capability. Connect one at details.connectUrl.",
      only,
    );
    fail("CONNECTION_REQUIRED", message, { connectUrl });
  }
  const { name, title } = missing.provider;
  const more = connectUrl.includes("?") ? "&" : "?";
  fail(
    "CONNECTION_REQUIRED",
    withReason(`No ${title} account is connected to this project. Connect one at details.connectUrl.`, only),
    {
      connectUrl: `${connectUrl}${more}provider=${encodeURIComponent(name)}`,
      provider: name,
    },
  );
}

/** Throws `ROUTE_UNAVAILABLE`. No other route is taken in place of one that was requested by name. */
export function routeUnavailable(
  alternates: string[],
  {
    pin,
    preferredModel,
    providerPin,
    only,
  }: Pick<RouteWish, "pin" | "preferredModel" | "providerPin" | "only">,
): never {
  const constraint = preferredModel ? "preferredModel" : providerPin ? "providerPin" : null;
  const field = pin ? "pin.target" : constraint && `execution.executionConstraints.${constraint}`;
  const instead =
    alternates.length > 0
      ? "Use one of details.alternates, or let Capstan choose."
      : "The capability's execution-targets list the models; an input names a model without its provider.";
  const message = `The requested model or provider cannot run this request. ${instead}`;
  fail("ROUTE_UNAVAILABLE", withReason(message, only), { alternates, ...(field ? { field } : {}) });
}

const withReason = (message: string, only: RouteWish["only"]) =>
  only ? `${message} ${only.because}` : message;
