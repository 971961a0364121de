import type { Capability } from "@/server/capabilities/define";
import type {
  OnboardingPlan,
  OnboardingRequest,
  PlannedAccount,
  PlannedCapability,
} from "@/server/contract/connections";
import { access, isRoleAtLeast, roleIn } from "@/server/domain/access";
import {
  connectUrlOf,
  getCapability,
  isCapability,
  type Need,
  nearestKeys,
  needsOf,
  noCapability,
} from "@/server/domain/catalog";
import { type CredentialRow, credentialsOf } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { ValidationFault } from "@/server/platform/errors/errors";
import { fewest } from "./cover";
import { resolveOwner } from "./owner";

type State = PlannedAccount["state"];
type Place = { organizationId: string; projectId: string | null };
type Wanted = { capability: Capability; needs: Need[] };

/**
 * Plans the accounts that the requested capabilities need: which providers could serve each, what is connected already,
 * and the fewest accounts that unlock everything possible. Any member of the organization may call this. Nothing is
 * stored.
 */
export async function plan(ctx: Ctx, request: OnboardingRequest): Promise<OnboardingPlan> {
  const place = await resolveOwner(ctx, request.projectId, "viewer");
  if (request.projectId) await requireEnvironment(ctx, request.projectId, request.environment);
  return planIn(ctx, place, request);
}

async function requireEnvironment(ctx: Ctx, projectId: string, environment: string): Promise<void> {
  const { environments } = await access.authorize(ctx, "jobs:read", { projectId });
  if (environments.includes(environment)) return;
  const msg = `The project has no environment ${environment}.`;
  throw new ValidationFault([{ loc: ["body", "environment"], msg, type: "value_error" }]);
}

/** Returns the capabilities with these keys, each once. Throws a `ValidationFault` that points at each unknown key. */
function capabilitiesOf(keys: string[]): Capability[] {
  const unknown = keys.flatMap((key, position) =>
    isCapability(key)
      ? []
      : [
          {
            loc: ["body", "capabilities", position],
            msg: noCapability(key),
            type: "unknown_capability",
            ctx: { nearestMatches: nearestKeys(key) },
          },
        ],
  );
  if (unknown.length > 0) throw new ValidationFault(unknown);
  return [...new Set(keys)].map(getCapability);
}

/** Plans for a place that is already authorized. */
export async function planIn(ctx: Ctx, place: Place, request: OnboardingRequest): Promise<OnboardingPlan> {
  const ready = (await credentialsOf(place.organizationId)).filter(({ status }) => status === "ready");
  const serving = ready.filter((row) => isServing(row, place, request.environment));
  const wanted = capabilitiesOf(request.capabilities).map((capability) => ({
    capability,
    needs: needsOf(capability, ready.map(toConnection)),
  }));
  const stateOf = stateIn(serving, ready);
  const unserved = wanted.filter(({ needs }) => needs.some(({ providers }) => providers.length === 0));
  const reachable = wanted.filter((each) => !unserved.includes(each));
  const isMet = ({ servedBy }: Need) => serving.some(({ id }) => servedBy.includes(id));
  const open = reachable.flatMap(({ needs }) => needs.filter((need) => !isMet(need)));
  const chosen = chooseAmong(open, ready);
  const met = reachable.flatMap(({ needs }) => needs.filter(isMet));
  const inUse = serving.filter(({ id }) => met.some(({ servedBy }) => servedBy.includes(id)));
  const canSee = isRoleAtLeast(roleIn(ctx, place.organizationId) ?? "viewer", "admin");
  const accounts = [...new Set([...inUse.map(({ provider }) => provider), ...chosen])].map((name) =>
    toAccount(name, {
      wanted,
      place,
      environment: request.environment,
      state: chosen.includes(name) ? chosenState(name, ready) : "connected",
      canSee,
      ready,
    }),
  );
  return {
    organizationId: place.organizationId,
    projectId: place.projectId,
    environment: request.environment,
    accountClass: request.accountClass,
    status:
      chosen.length > 0 ? "interaction_required" : unserved.length > 0 ? "configuration_required" : "ready",
    capabilities: wanted.map(({ capability, needs }) =>
      toCapability(capability, needs, needs.every(isMet), stateOf),
    ),
    accounts,
    unserved: unserved.map(({ capability }) => capability.key),
    explanation: explain(
      chosen.filter((name) => chosenState(name, ready) === "connect").length,
      accounts,
      reachable.length,
    ),
  };
}

const toConnection = ({ id, provider, models, pass_through }: CredentialRow) => ({
  credentialId: id,
  provider,
  models,
  passThrough: pass_through,
  perExecutionMicros: null,
});

/**
 * True if the connection serves the requested environment. Without a project, any connection of the organization
 * does.
 */
const isServing = ({ bindings }: CredentialRow, { projectId }: Place, environment: string) =>
  projectId === null ||
  bindings.some((binding) => binding.project_id === projectId && binding.environment === environment);

const stateIn =
  (serving: CredentialRow[], ready: CredentialRow[]) =>
  (provider: string): State =>
    serving.some((row) => row.provider === provider)
      ? "connected"
      : ready.some((row) => row.provider === provider)
        ? "bind"
        : "connect";

/** Returns what a provider still needs: to bind a connection that the organization has, or to connect an account. */
const chosenState = (provider: string, ready: CredentialRow[]): State =>
  ready.some((row) => row.provider === provider) ? "bind" : "connect";

/**
 * Chooses accounts that meet these needs: as few new ones as possible, and then as few bindings of the organization's
 * own as possible. A provider with an own server is proposed only if no other could serve.
 */
function chooseAmong(open: Need[], ready: CredentialRow[]): string[] {
  if (open.length === 0) return [];
  const sets = open.map((need) => new Set(candidatesOf(need, ready)));
  const order = inOrder(open, sets);
  const owned = (names: readonly string[]) =>
    names.filter((name) =>
      open.some(({ servedBy }) => ready.some((row) => row.provider === name && servedBy.includes(row.id))),
    );
  const bindable = owned(order);
  const left = sets.filter((set) => !bindable.some((name) => set.has(name)));
  const made = fewest(
    left,
    order.filter((name) => left.some((set) => set.has(name))),
  );
  const still = sets.filter((set) => !made.some((name) => set.has(name)));
  return [
    ...fewest(
      still,
      bindable.filter((name) => still.some((set) => set.has(name))),
    ),
    ...made,
  ];
}

function candidatesOf({ providers, servedBy }: Need, ready: CredentialRow[]): string[] {
  const listed = providers.filter(({ modelsFrom }) => !modelsFrom);
  const own = ready.filter(({ id }) => servedBy.includes(id)).map(({ provider }) => provider);
  return [...new Set([...own, ...(listed.length > 0 ? listed : providers).map(({ name }) => name)])];
}

/** Sorts providers by how many needs they meet. Equals stay in the order of routing. */
function inOrder(open: Need[], sets: ReadonlySet<string>[]): string[] {
  const names = [...new Set(open.flatMap(({ providers }) => providers.map(({ name }) => name)))];
  const met = (name: string) => sets.filter((set) => set.has(name)).length;
  return names.filter((name) => met(name) > 0).sort((one, other) => met(other) - met(one));
}

function toCapability(
  { key, title }: Capability,
  needs: Need[],
  ready: boolean,
  stateOf: (provider: string) => State,
): PlannedCapability {
  return {
    key,
    title,
    ready,
    needs: needs.map(({ what, providers }) => ({
      what,
      providers: providers.map(({ name, title }) => ({ provider: name, title, state: stateOf(name) })),
    })),
  };
}

function toAccount(
  name: string,
  {
    wanted,
    place: { projectId },
    environment,
    state,
    canSee,
    ready,
  }: {
    wanted: Wanted[];
    place: Place;
    environment: string;
    state: State;
    canSee: boolean;
    ready: CredentialRow[];
  },
): PlannedAccount {
  const serves = wanted.filter(({ needs }) =>
    needs.some(({ providers }) => providers.some((each) => each.name === name)),
  );
  const all = wanted.flatMap(({ needs }) => needs.flatMap(({ providers }) => providers));
  const own = ready.find(({ provider }) => provider === name);
  return {
    provider: name,
    title: all.find((provider) => provider.name === name)?.title ?? name,
    state,
    connectionId: canSee ? (own?.id ?? null) : null,
    unlocks: serves.map(({ capability }) => capability.key),
    url:
      state === "connected" || projectId === null ? null : connectUrlOf({ id: projectId, environment }, name),
  };
}

function explain(news: number, accounts: PlannedAccount[], capabilities: number): string {
  if (capabilities === 0) return "No account that you can connect supports any of them.";
  if (accounts.length === 0) return "All of them run without a provider account.";
  const what = capabilities === 1 ? "the capability" : `all ${capabilities} supported capabilities`;
  const toBind = accounts.filter(({ state }) => state === "bind").length;
  if (news === 0 && toBind === 0) return `Your connected accounts already support ${what}.`;
  if (news === 0) return `Your organization's connected accounts support ${what} once they are bound here.`;
  const many = news === 1 ? "1 new account is" : `${news} new accounts are`;
  return `${many} the minimum to support ${what}. Existing accounts are used first, then accounts that support the most of your capabilities, then those that are preferred for routing.`;
}
