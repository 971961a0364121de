import type { Capability } from "@/server/capabilities/define";
import type { BillingMode } from "@/server/contract/common";
import type { Connection } from "@/server/domain/connections";
import { fail } from "@/server/platform/errors/errors";
import { type MaturityRating, type ModelFacts, RATINGS } from "@/server/providers/define";
import {
  type Account,
  availabilityOf,
  canStream,
  isAtLeast,
  maturityAllowed,
  modelIds,
  type Offer,
  offersOf,
  placeOfAccount,
  routeKey,
  SANDBOX,
  type Target,
  targetsOfPort,
} from "./targets";

/** One way to run a capability: a model of a provider, and the account that pays. */
export type Route = Target & { billingMode: BillingMode; account: Account; choice: RouteChoice };

/** Why this route: the rule that chose it, and what else the rule allowed. For the receipt. */
export type RouteChoice = {
  policy: "exact_pin" | "named_model" | "named_provider" | "automatic";
  reason:
    | "pinned"
    | "preferred_model"
    | "preferred_model_unavailable"
    | "model_in_input"
    | "first_of_provider"
    | "first_eligible"
    /** Those before it have kept failing lately. */
    | "first_healthy";
  /** Every route the rule allowed at that moment, the chosen one first. */
  eligible: string[];
};

/** The rules of chooseRoute. A change of what they choose is another version. */
export const ROUTING_POLICY_VERSION = "routing_2026_11_3";

export type RouteWish = {
  billingMode?: BillingMode | null | undefined;
  /** `provider/model`, exactly, never substituted */
  pin?: string | null | undefined;
  providerPin?: string | null | undefined;
  preferredModel?: string | null | undefined;
  autoSelect?: boolean;
  /** Models whose provider's policy is lower are not chosen. */
  maturity?: MaturityRating | null;
  /** Does the model support what the request sets beside the input? One that does goes first among its equals. */
  supports?(model: ModelFacts): boolean;
  /** Only models whose text can be followed as it is written. */
  streams?: boolean;
  /** What the project is connected to. */
  connections?: readonly Connection[];
  /** Has this route kept failing lately with this account? It goes behind its equals then; it is never left out. */
  isBehind?(offer: Offer): boolean;
  /** Only the sandbox, or never it: one execution is paid with one kind of money. */
  isSandbox?: boolean;
  /** Only these, `provider/model`, and why no other: what the request sets beside the input may leave few. */
  only?: { models: readonly string[]; because: string } | null;
  /** false: no one has paid for the operator's accounts, so the sandbox goes first where it is on. */
  isFunded?: boolean | undefined;
};

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
 * refused, unless autoSelect allows another when the preferred model is not there. Otherwise: the project's own accounts
 * first, then the operator's where the organization is funded, then the sandbox when it is on; among those the models that
 * follow the input's hints whole, healthy ones first, in the order their provider lists them.
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
    const isAllowed = (target: Target) => isAtLeast(maturityAllowed(target), maturity);
    const before = candidates;
    candidates = before.filter(isAllowed);
    if (candidates.length === 0 && maySubstitute) candidates = substitutes.filter(isAllowed);
    if (candidates.length === 0) tooMature(maturity, before, reachable.filter(isDefault).filter(isAllowed));
  }

  const place = placeOf(wish, fits);
  const preference = ({ model }: Target) => execution.prefers?.(input, model) ?? 0;
  // A route requested by name is taken as it is, however it has done lately.
  const behind = (offer: Offer) => Number(!isNamed && (wish.isBehind?.(offer) ?? false));
  const order = (health: (offer: Offer) => number) =>
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
  // Without an offer of the provider asked for, no model could help: the provider's field is named.
  const isProviderMissing = Boolean(wish.providerPin) && !reachable.some(isOfProvider);
  routeUnavailable(
    modelIds(reachable.filter(isDefault)),
    isProviderMissing ? { ...wish, preferredModel: undefined } : wish,
  );
}

/**
 * What a wish names; all of them where it names nothing. A preferred model is called by its id, else as refusals list it,
 * `provider/model`: an id may have that form, too.
 */
export function namedBy<T extends Target>(
  { pin, providerPin, preferredModel }: Pick<RouteWish, "pin" | "providerPin" | "preferredModel">,
  candidates: T[],
): T[] {
  const of = candidates.filter(
    (target) => (!pin || routeKey(target) === pin) && (!providerPin || target.provider.name === providerPin),
  );
  if (!preferredModel) return of;
  const byId = of.filter(({ model }) => model.id === preferredModel);
  return byId.length > 0 ? byId : of.filter((target) => routeKey(target) === preferredModel);
}

/** Whose account goes first, among its models those that do all that is asked, and of them those that need not be asked for less. */
function placeOf(
  { isFunded, supports }: RouteWish,
  fits: (target: Target) => boolean,
): (offer: Offer) => number {
  return (offer) =>
    4 * placeOfAccount(offer.account, isFunded) +
    2 * Number(supports ? !supports(offer.model) : false) +
    Number(!fits(offer));
}

function tooMature(asked: MaturityRating, refused: Target[], alternates: Target[]): never {
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

/** Leads a person to the form of the provider that is missing. */
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

/** The route requested by name does not exist; nothing else is taken in its place. */
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
