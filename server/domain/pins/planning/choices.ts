import { ownKeys } from "@/server/contract/own-keys";
import type { PinChoice } from "@/server/contract/pinned";
import { access } from "@/server/domain/access";
import { SANDBOX } from "@/server/domain/catalog";
import { baseName, connectionsOf, providerOfRoute } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { isSandboxOn } from "@/server/platform/settings/env";
import type { ModelFacts } from "@/server/providers/define";
import { type PinApi, type PinCall, PinRefusal } from "@/server/providers/pins";
import { pinnable } from "./target";

/** A harmless value of every setting, to find out if an interface accepts the setting. */
const PROBES: Required<PinCall["sampling"]> = {
  temperature: 1,
  topP: 1,
  topK: 1,
  maxOutputTokens: 1_024,
  seed: 1,
  stop: ["."],
  frequencyPenalty: 0,
  presencePenalty: 0,
  reasoningEffort: "low",
  thinking: "disabled",
  thinkingBudgetTokens: 1_024,
  verbosity: "low",
};
const NAMES = ownKeys(PROBES);

/**
 * The pins to offer to a project, with the settings that each accepts. Models of the project's own servers
 * are included, and models that are used only by name are left out; pins with a connected account come first.
 */
export async function choices(ctx: Ctx, projectId: string): Promise<PinChoice[]> {
  const project = await access.authorize(ctx, "jobs:read", { projectId });
  const connections = await connectionsOf(project);
  const further = connections.flatMap(({ provider: name }) =>
    baseName(name) === name ? [] : (providerOfRoute(name) ?? []),
  );
  const found = [...pinnable(), ...further]
    .filter(({ name }) => name !== SANDBOX || isSandboxOn)
    .flatMap((provider) => {
      const own = connections.filter((each) => each.provider === provider.name);
      const isConnected = provider.name === SANDBOX || own.length > 0;
      const listed = own.flatMap(({ models }) => provider.modelsFrom?.(models ?? "") ?? []);
      const models = [...provider.models, ...listed].filter(
        (model, place, all) =>
          model.port === "text" && !model.onlyByName && all.findIndex(({ id }) => id === model.id) === place,
      );
      return Object.entries(provider.pins ?? {}).flatMap(([name, api]) =>
        models
          .filter((model) => says(api, model, {}))
          .map(
            (model): PinChoice => ({
              pin: { provider: provider.name, model: model.id, api: name },
              providerTitle: provider.title,
              modelTitle: model.title,
              isConnected,
              canDefer: api.canDefer && model.supports.deferred === true,
              sampling: NAMES.filter((setting) => says(api, model, { [setting]: PROBES[setting] })),
            }),
          ),
      );
    });
  return found.sort((a, b) => Number(b.isConnected) - Number(a.isConnected));
}

/**
 * True if this interface accepts these settings. The interface itself decides, as it does for every request.
 */
function says(api: PinApi, model: ModelFacts, sampling: PinCall["sampling"]): boolean {
  try {
    api.body({ input: "?", sampling }, model, "standard");
    return true;
  } catch (error) {
    if (error instanceof PinRefusal) return false;
    throw error;
  }
}
