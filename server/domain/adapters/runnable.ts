import type { ModelAdapter, Runnable } from "@/server/contract/adapters";
import { FAMILIES, familyOfWord } from "@/server/contract/model-families";
import {
  allCapabilities,
  routeKey,
  SANDBOX,
  sandboxSource,
  type Target,
  targetsOfPort,
} from "@/server/domain/catalog";

/** Facts that decide whether an adapter can run. */
export type Weights = {
  display_name: string;
  source_kind: ModelAdapter["source"]["kind"];
  provider: string | null;
  frozen: boolean;
  health_status: ModelAdapter["sourceHealth"]["status"];
  base_model_family: string | null;
  compatible_models: string[];
};
type Obstacle = Runnable["notRunnable"][number];

/**
 * Reports whether any capability supports these weights, and if not, why and what to do, in the words that
 * refuse a request with them.
 */
export function runnableOf(row: Weights): Runnable {
  const obstacle = obstacleOf(row, everyTarget());
  return { runnable: obstacle === null, notRunnable: obstacle ? [obstacle] : [] };
}

/** The reason why none of these models supports an adapter; null if one does. */
export function obstacleOf(row: Weights, targets: readonly Target[]): Obstacle | null {
  const name = JSON.stringify(row.display_name);
  if (!row.frozen && row.source_kind === "provider_ref" && row.provider)
    return {
      code: "not_frozen",
      message: `The adapter ${name} is catalog-only: its source has no revision, so its weights may change and it cannot run.`,
      nextStep: `Register it again with the \`revision\` of the weights in its source.${row.provider === SANDBOX ? sandboxSource() : ""}`,
    };
  if (!row.frozen)
    return {
      code: "not_frozen",
      message: `The adapter ${name} is catalog-only: its source does not pin a file, so it cannot run.`,
      nextStep: "Register it again with a source that names one file at one commit, or upload the file.",
    };
  if (row.health_status === "missing")
    return {
      code: "missing",
      message: `The weights of the adapter ${name} were removed. Upload or register them again.`,
      nextStep: "Upload or register the weights again.",
    };
  if (adapterFamilyOf(row) === null && row.compatible_models.length === 0)
    return {
      code: "incompatible",
      message: `The base model of the adapter ${name} is unknown. Set its base model first.`,
      nextStep: `Set baseModelFamily with PATCH /v1/adapters/{adapter_id}: ${familiesOf(targets)}.`,
    };
  if (!targets.some((target) => fits(row, target)))
    return {
      code: "incompatible",
      message: `No model of this capability supports the adapter ${name}.`,
      nextStep: `Use weights for one of the families that models take here: ${familiesOf(targets)}.`,
    };
  return null;
}

let known: Target[] | undefined;

/**
 * The models of every capability that takes adapters. They depend only on this build, so they are gathered
 * once.
 */
function everyTarget(): Target[] {
  known ??= allCapabilities
    .filter(({ adapters }) => adapters !== undefined)
    .flatMap((capability) => targetsOfPort(capability));
  return known;
}

/** Every family, with the models of this build that support its adapters. */
export function families(): { name: string; title: string; models: string[] }[] {
  const takers = everyTarget().filter(({ model }) => model.supports.adapters);
  return FAMILIES.map(({ name, title }) => {
    const models = takers.filter(({ model }) => model.families?.includes(name)).map(routeKey);
    return { name, title, models: [...new Set(models)].sort() };
  });
}

/** The families that these models support, as a request names them. */
function familiesOf(targets: readonly Target[]): string {
  const all = targets.flatMap(({ model }) => (model.supports.adapters ? (model.families ?? []) : []));
  return [...new Set(all)].sort().join(", ") || "none";
}

export const adapterFamilyOf = (row: Weights) =>
  row.base_model_family ? familyOfWord(row.base_model_family) : null;

/** True if the model supports these weights, judged by the facts of both. */
export function fits(row: Weights, target: Target): boolean {
  const { provider, model } = target;
  if (!model.supports.adapters) return false;
  if (row.source_kind === "provider_ref" && row.provider !== provider.name) return false;
  const named = row.compatible_models;
  if (named.length > 0 && !named.includes(model.id) && !named.includes(routeKey(target))) return false;
  const family = adapterFamilyOf(row);
  return family === null ? named.length > 0 : (model.families ?? []).includes(family);
}
