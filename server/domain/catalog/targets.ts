import type { Capability } from "@/server/capabilities/define";
import type { BillingMode } from "@/server/contract/common";
import {
  baseUrlOf,
  type Connection,
  operatorCredentials,
  providerOfRoute,
} from "@/server/domain/connections";
import { isSandboxOn } from "@/server/platform/settings/env";
import { type MaturityRating, type ModelFacts, RATINGS } from "@/server/providers/define";
import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";

export const SANDBOX = "sandbox";
/** Why an account is not used that is there: the organization has switched executions off that leave for providers. */
export const SHUT = "external_actions_disabled";

/** A model that can do a capability. */
export type Target = {
  provider: Provider;
  model: ModelFacts;
  /** The connection whose owner lists this model: it is on their server, and no one else's account reaches it. */
  listedBy?: string;
};

/** operator: the deployment's own account. sandbox: no account at all. Else a connection of the project. */
export type Account = "operator" | "sandbox" | { credentialId: string };
/** Whose account goes first: the project's own, the operator's (last where no one has paid for it), the sandbox. */
export function placeOfAccount(account: Account, isFunded?: boolean): number {
  if (account === "sandbox") return 2;
  if (account === "operator") return isFunded === false ? 3 : 1;
  return 0;
}

/** A model with an account that reaches it now, and the ways to pay which that account allows. */
export type Offer = Target & { account: Account; billingModes: BillingMode[] };

export const routeKey = ({ provider, model }: Pick<Target, "provider" | "model">) =>
  `${provider.name}/${model.id}`;
/** Each of them once, in their order. */
export const modelIds = (models: readonly Target[]) => [...new Set(models.map(routeKey))];

const NONE: readonly Connection[] = [];

/** Every model that serves the capability's port, whether or not an account is there; also those on a project's own servers. */
export function targetsOfPort(capability: Capability, connections = NONE): Target[] {
  const { execute } = capability;
  if ("local" in execute) return [];
  const all: Provider[] = providers;
  const serves = (model: ModelFacts) => model.port === execute.port;
  const ours = all.flatMap((provider) =>
    provider.models.filter(serves).map((model) => ({ provider, model })),
  );
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
  return [...theirs, ...ours];
}

/** The accounts that reach a model now: the project's own first. */
export function offersOf(target: Target, connections = NONE): Offer[] {
  const { provider, listedBy } = target;
  if (provider.name === SANDBOX) {
    const billingModes: BillingMode[] = ["byok", "managed"];
    return isSandboxOn && baseUrlOf(provider) ? [{ ...target, account: "sandbox", billingModes }] : [];
  }
  const own = connections
    .filter((each) => (listedBy ? each.credentialId === listedBy : isOf(provider, each)))
    .map(({ credentialId }): Offer => ({ ...target, account: { credentialId }, billingModes: ["byok"] }));
  const isOperators = !listedBy && baseUrlOf(provider) !== null && operatorCredentials(provider) !== null;
  return isOperators ? [...own, { ...target, account: "operator", billingModes: ["managed"] }] : own;
}

/** A connection that names its own server serves the models of that server alone. */
const isOf = (provider: Provider, connection: Connection) =>
  connection.provider === provider.name && !provider.modelsFrom;

/** How a target can be reached now, or why not. */
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

/** The model an execution was planned on, as its record has it; null: this installation no longer has it. */
export function targetOf(
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

/** Can a model do the capability's first example? */
function ableFor(capability: Capability): (model: ModelFacts) => boolean {
  const { execute, input, examples } = capability;
  if ("local" in execute) return () => false;
  const example = examples[0] && input.safeParse(examples[0].input);
  return (model) =>
    model.port === execute.port && (!example?.success || (execute.accepts?.(example.data, model) ?? true));
}

/**
 * Could an account at this provider serve the capability, by what its models can do? Of a server whose models its owner
 * lists, only that list is known.
 */
export function couldServe(provider: Provider, capability: Capability): boolean {
  const { models, modelsFrom, modelsExample = "" } = provider;
  return [...models, ...(modelsFrom?.(modelsExample) ?? [])].some(ableFor(capability));
}

/** Models able to do the capability's first example, in the order in which an unpinned request takes them. */
export function targetsAbleTo(capability: Capability, connections = NONE): Target[] {
  const { execute, input, examples } = capability;
  const example = examples[0] && input.safeParse(examples[0].input);
  if ("local" in execute || !example?.success) return targetsOfPort(capability, connections);
  const isAble = ableFor(capability);
  const able = targetsOfPort(capability, connections).filter(({ model }) => isAble(model));
  const preference = ({ model }: Target) => execute.prefers?.(example.data, model) ?? 0;
  const isSandbox = ({ provider }: Target) => Number(provider.name === SANDBOX);
  return able.sort((a, b) => isSandbox(a) - isSandbox(b) || preference(b) - preference(a));
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

/**
 * Would it change the route whether the organization has funds? Only where both the operator's account and the sandbox could
 * serve; everywhere else no one has to look.
 */
export function dependsOnFunds(capability: Capability): boolean {
  if (!isSandboxOn) return false;
  const accounts = targetsOfPort(capability).map((target) => availabilityOf(target).account);
  return accounts.includes("operator") && accounts.includes("sandbox");
}

/** The highest rating of content a model may be asked for. */
export const maturityAllowed = ({ provider, model }: Target): MaturityRating =>
  model.maturity ?? provider.maturity;

export const isAtLeast = (allowed: MaturityRating, asked: MaturityRating) =>
  RATINGS.indexOf(allowed) >= RATINGS.indexOf(asked);
