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
/** What a pin names: exactly this, never a substitute. */
export type Target = { provider: Provider; api: PinApi; model: ModelFacts };
/** The account it runs on: null credential: the sandbox. */
export type Chosen = Target & { credentialId: string | null; isListed: boolean };

const refuse = (field: keyof Pin, msg: string): never => {
  throw new ValidationFault([{ loc: ["body", "pin", field], msg, type: "unknown_pin" }]);
};

const namesOf = (provider: Provider) => Object.keys(provider.pins ?? {});
/** Providers that have an interface to pin. */
export const pinnable = () => providers.filter((provider) => namesOf(provider).length > 0);

/**
 * Finds what a pin names and the account of this project that reaches it. Throws a field error for what is not there, and
 * CONNECTION_REQUIRED where only an account is missing.
 */
export async function findTarget(pin: Pin, project: Project): Promise<Chosen> {
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
  // What there is not is refused before an account is asked for; of a server of their own only its owners know.
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

/** What a plan names, as this installation has it now; null: not any more. */
export function targetOf({ pin, model: listed }: Pick<PinnedPlan, "pin" | "model">): Target | null {
  const provider = providerOfRoute(pin.provider);
  const api = provider && apiOf(provider, pin.api);
  const model = listed ?? (provider && textModel(provider.models, pin.model));
  return provider && api && model ? { provider, api, model } : null;
}

/** An account that was opened is used for a second without looking again: a revoked one stops within this time. */
const opened: (credentialId: string, provider: string, project: Project) => Promise<OpenAccount | null> =
  recent(
    (credentialId, _provider, { id, environment }) => `${credentialId} ${id} ${environment}`,
    openAccount,
  );

/** The account of a plan, opened; null: it is not connected any more, or does not open. */
export async function accountOf(
  { provider }: Target,
  { credentialId }: Pick<PinnedPlan, "credentialId">,
  project: Project,
): Promise<OpenAccount | null> {
  if (credentialId === null) {
    const baseUrl = isSandboxOn && provider.name === SANDBOX ? baseUrlOf(provider) : null;
    return baseUrl === null ? null : { baseUrl, credentials: {} };
  }
  return opened(credentialId, provider.name, project);
}
