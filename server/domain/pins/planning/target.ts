import type { Pin } from "@/server/contract/pinned";
import { connectUrlOf, SANDBOX } from "@/server/domain/catalog";
import {
  baseUrlOf,
  connectionsOf,
  type OpenAccount,
  openAccount,
  providerOfRoute,
} from "@/server/domain/connections";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { isSandboxOn } from "@/server/platform/settings/env";
import { recent } from "@/server/platform/time/recent";
import type { ModelFacts } from "@/server/providers/define";
import type { PinApi } from "@/server/providers/pins";
import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";
import type { PinnedPlan } from "../rows";

type Project = { id: string; environment: string };
/** The provider, interface and model that a pin names, never a substitute. */
export type PinTarget = { provider: Provider; api: PinApi; model: ModelFacts };
/**
 * A target and its account; `credentialId` is null for the sandbox. `isListed`: the model is one that the
 * account's own server lists.
 */
type ChosenTarget = PinTarget & { credentialId: string | null; isListed: boolean };

const refuse = (field: keyof Pin, msg: string): never => {
  throw new ValidationFault([{ loc: ["body", "pin", field], msg, type: "unknown_pin" }]);
};

const namesOf = (provider: Provider) => Object.keys(provider.pins ?? {});
/** Providers with an interface that can be pinned. */
export const pinnable = () => providers.filter((provider) => namesOf(provider).length > 0);

/**
 * Finds the target of a pin and an account of this project for it. Throws a field error for anything that
 * does not exist, and CONNECTION_REQUIRED if only an account is missing.
 */
export async function findTarget(pin: Pin, project: Project): Promise<ChosenTarget> {
  const provider = providerOfRoute(pin.provider);
  if (!provider || namesOf(provider).length === 0) {
    const known = pinnable().map(({ name }) => name);
    return refuse("provider", `This provider cannot be pinned. Use one of ${known.join(", ")}.`);
  }
  const api = apiOf(provider, pin.api);
  if (!api)
    return refuse(
      "api",
      `${provider.title} cannot be pinned at this interface. Use ${namesOf(provider).join(", ")}.`,
    );
  if (provider.name === SANDBOX) {
    if (!isSandboxOn || !baseUrlOf(provider))
      return refuse("provider", "The sandbox is turned off in this installation.");
    return { provider, api, model: ownModel(provider, pin.model), credentialId: null, isListed: false };
  }
  // An unknown model is refused before the account check, except on a private server, whose models only its
  // owners know.
  const model = provider.modelsFrom ? null : ownModel(provider, pin.model);
  const connections = (await connectionsOf(project)).filter((each) => each.provider === provider.name);
  const [first] = connections;
  if (!first) {
    fail(
      "CONNECTION_REQUIRED",
      `No ${provider.title} account is connected to this project. Connect one at details.connectUrl.`,
      {
        connectUrl: connectUrlOf(project, provider.name),
        provider: provider.name,
      },
    );
  }
  if (model) return { provider, api, model, credentialId: first.credentialId, isListed: false };
  for (const { credentialId, models } of connections) {
    const listed = textModel(provider.modelsFrom?.(models ?? "") ?? [], pin.model);
    if (listed) return { provider, api, model: listed, credentialId, isListed: true };
  }
  return refuse("model", "No server connected to this project lists this model.");
}

function ownModel(provider: Provider, id: string): ModelFacts {
  return (
    textModel(provider.models, id) ?? refuse("model", `${provider.title} has no text model with this name.`)
  );
}

const textModel = (models: ModelFacts[], id: string) =>
  models.find((model) => model.id === id && model.port === "text");

const apiOf = ({ pins }: Provider, name: string): PinApi | null =>
  pins && Object.hasOwn(pins, name) ? (pins[name] ?? null) : null;

/** The target of a plan in this installation; null if it is no longer available. */
export function targetOf({ pin, model: listed }: Pick<PinnedPlan, "pin" | "model">): PinTarget | null {
  const provider = providerOfRoute(pin.provider);
  const api = provider && apiOf(provider, pin.api);
  const model = listed ?? (provider && textModel(provider.models, pin.model));
  return provider && api && model ? { provider, api, model } : null;
}

/**
 * An opened account is reused for a second without another check, so a revoked account stops within a second.
 */
const opened: (credentialId: string, provider: string, project: Project) => Promise<OpenAccount | null> =
  recent(
    (credentialId, _provider, { id, environment }) => `${credentialId} ${id} ${environment}`,
    openAccount,
  );

/** Opens the account of a plan; null if it is no longer connected or cannot be opened. */
export async function accountOf(
  { provider }: PinTarget,
  { credentialId }: Pick<PinnedPlan, "credentialId">,
  project: Project,
): Promise<OpenAccount | null> {
  if (credentialId === null) {
    const baseUrl = isSandboxOn && provider.name === SANDBOX ? baseUrlOf(provider) : null;
    return baseUrl === null ? null : { baseUrl, credentials: {} };
  }
  return opened(credentialId, provider.name, project);
}
