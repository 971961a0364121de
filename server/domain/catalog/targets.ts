import type { Capability } from "@/server/capabilities/define";
import type { BillingMode } from "@/server/contract/common";
import {
  type BoundConnection,
  baseUrlOf,
  operatorCredentials,
  providerOfRoute,
} from "@/server/domain/connections";
import { isSandboxOn } from "@/server/platform/settings/env";
import { type ContentRating, type ModelFacts, RATINGS } from "@/server/providers/define";
import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";

export const SANDBOX = "sandbox";
/**
 * The reason an available account is not used: the organization has switched off executions that leave for providers.
 */
export const SHUT = "external_actions_disabled";

/** A model that can serve a capability. */
export type Target = {
  provider: Provider;
  model: ModelFacts;
  /** The connection whose owner lists this model. The model is on their server, so no other account reaches it. */
  listedBy?: string;
};

/**
 * `operator` is the deployment's own account, and `sandbox` needs none. Any other account is a connection of the
 * project.
 */
export type Account = "operator" | "sandbox" | { credentialId: string };
/**
 * Ranks accounts; the lowest goes first: the project's own, the operator's, the sandbox. If no one has paid for the
 * operator's account, it goes last.
 */
export function placeOfAccount(account: Account, isFunded?: boolean): number {
  if (account === "sandbox") return 2;
  if (account === "operator") return isFunded === false ? 3 : 1;
  return 0;
}

/** A model with an account that reaches it now, and the billing modes that the account allows. */
export type TargetOffer = Target & { account: Account; billingModes: BillingMode[] };

export const routeKey = ({ provider, model }: Pick<Target, "provider" | "model">) =>
  `${provider.name}/${model.id}`;
/** Returns each route key once, in order. */
export const modelIds = (models: readonly Target[]) => [...new Set(models.map(routeKey))];

const NONE: readonly BoundConnection[] = [];

/** The registry's models by their port; the registry stays as it is while a process runs. */
const registered = new Map<string, readonly Target[]>();

function registeredFor(port: string): readonly Target[] {
  const known = registered.get(port);
  if (known) return known;
  const all: Provider[] = providers;
  const targets = all.flatMap((provider) =>
    provider.models.filter((model) => model.port === port).map((model) => ({ provider, model })),
  );
  registered.set(port, targets);
  return targets;
}

/**
 * Returns every model that serves the capability's port, with or without an account, including those on the project's
 * own servers.
 */
export function targetsOfPort(capability: Capability, connections = NONE): readonly Target[] {
  const { execute } = capability;
  if ("local" in execute) return [];
  const serves = (model: ModelFacts) => model.port === execute.port;
  const ours = registeredFor(execute.port);
  const theirs = connections.flatMap(({ credentialId, provider: name, models, passThrough }) => {
    const provider = providerOfRoute(name);
    if (!provider?.modelsFrom || models === null) return [];
    const listed = provider.modelsFrom(models, passThrough ?? undefined).filter(serves);
    return listed.map((model) => ({
      provider,
      model: passThrough ? { ...model, members: passThrough } : model,
      listedBy: credentialId,
    }));
  });
  return theirs.length === 0 ? ours : [...theirs, ...ours];
}

/** Returns the accounts that reach a model now, the project's own first. */
export function offersOf(target: Target, connections = NONE): TargetOffer[] {
  const { provider, listedBy } = target;
  if (provider.name === SANDBOX) {
    const billingModes: BillingMode[] = ["byok", "managed"];
    return isSandboxOn && baseUrlOf(provider) ? [{ ...target, account: "sandbox", billingModes }] : [];
  }
  const own = connections
    .filter((each) => (listedBy ? each.credentialId === listedBy : isOf(provider, each)))
    .map(
      ({ credentialId }): TargetOffer => ({ ...target, account: { credentialId }, billingModes: ["byok"] }),
    );
  const isOperators = !listedBy && baseUrlOf(provider) !== null && operatorCredentials(provider) !== null;
  return isOperators ? [...own, { ...target, account: "operator", billingModes: ["managed"] }] : own;
}

/** A connection that names its own server serves only the models that it lists. */
const isOf = (provider: Provider, connection: BoundConnection) =>
  connection.provider === provider.name && !provider.modelsFrom;

/** Tells how a target can be reached now, or the reason why not. */
export function availabilityOf(
  target: Target,
  connections = NONE,
): { account: Account | null; billingModes: BillingMode[]; reason: string | null } {
  const offers = offersOf(target, connections);
  const [first] = offers;
  if (!first) return { account: null, billingModes: [], reason: whyNot(target) };
  const billingModes = [...new Set(offers.flatMap((offer) => offer.billingModes))];
  return { account: first.account, billingModes, reason: null };
}

function whyNot({ provider }: Target): string {
  if (!baseUrlOf(provider)) return "base_url_missing";
  return provider.name === SANDBOX ? "sandbox_off" : "connection_required";
}

/**
 * Returns the model that an execution was planned on, as its record names it. `listed` is the model as its owner listed
 * it then. Returns null if this installation no longer has the model.
 */
export function findPlannedTarget(
  capability: Capability,
  provider: string,
  model: string,
  listed: ModelFacts | undefined,
): Target | null {
  if (listed) {
    const found = providerOfRoute(provider);
    return found ? { provider: found, model: listed } : null;
  }
  return (
    targetsOfPort(capability).find((each) => each.provider.name === provider && each.model.id === model) ??
    null
  );
}

/** Returns the test whether a model can do the capability's first example. */
function ableFor(capability: Capability): (model: ModelFacts) => boolean {
  const { execute, input, examples } = capability;
  if ("local" in execute) return () => false;
  const example = examples[0] && input.safeParse(examples[0].input);
  return (model) =>
    model.port === execute.port && (!example?.success || (execute.accepts?.(example.data, model) ?? true));
}

/**
 * True if an account at this provider could serve the capability, judged by what its models can do. For a server
 * whose models its owner lists, an example of such a list is judged.
 */
export function couldServe(provider: Provider, capability: Capability): boolean {
  const { models, modelsFrom, modelsExample = "" } = provider;
  return [...models, ...(modelsFrom?.(modelsExample) ?? [])].some(ableFor(capability));
}

/**
 * Returns the models that can do the capability's first example, in the order in which an unpinned request tries them.
 */
export function targetsAbleTo(capability: Capability, connections = NONE): readonly Target[] {
  const { execute, input, examples } = capability;
  const example = examples[0] && input.safeParse(examples[0].input);
  if ("local" in execute || !example?.success) return targetsOfPort(capability, connections);
  const isAble = ableFor(capability);
  const able = targetsOfPort(capability, connections).filter(({ model }) => isAble(model));
  const preference = ({ model }: Target) => execute.prefers?.(example.data, model) ?? 0;
  const isSandbox = ({ provider }: Target) => Number(provider.name === SANDBOX);
  return able.sort((a, b) => isSandbox(a) - isSandbox(b) || preference(b) - preference(a));
}

/** True if this model's text can be streamed while it is written. */
export function canStream({ provider, model }: Target): boolean {
  return (model.supports.stream ?? false) && provider[model.port]?.stream !== undefined;
}

/** True if durable work of this capability may wait for the model's cheaper tier. */
export function canDefer(capability: Capability, { model }: Pick<Target, "model">): boolean {
  const { execute, modes } = capability;
  const isText = "port" in execute && execute.port === "text";
  return isText && modes.includes("job_async") && (model.supports.deferred ?? false);
}

/**
 * True if the organization's funds could change the route. They can only if both the operator's account and the
 * sandbox could serve, so no other case needs to read them.
 */
export function dependsOnFunds(capability: Capability): boolean {
  if (!isSandboxOn) return false;
  const accounts = targetsOfPort(capability).map((target) => availabilityOf(target).account);
  return accounts.includes("operator") && accounts.includes("sandbox");
}

/** Returns the highest maturity rating that a model may be asked for. */
export const maturityAllowed = ({ provider, model }: Target): ContentRating =>
  model.maturity ?? provider.maturity;

export const allowsMaturity = (allowed: ContentRating, asked: ContentRating) =>
  RATINGS.indexOf(allowed) >= RATINGS.indexOf(asked);
