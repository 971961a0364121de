import * as catalog from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { byNearness } from "@/server/domain/envelope";
import { Fault, fail } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";
import { MODEL_KINDS, type ModelKind } from "./kinds";

/* The values of `model`: a capability, a capability with a model, a provider's model, or only the vendor's model name. */

type Capability = (typeof catalog.allCapabilities)[number];

export type ModelRequest = {
  capability: Capability;
  /** The requested model; null means any. */
  named: { providerPin: string; preferredModel: string } | null;
};

/**
 * Reads `capability`, `capability@model` or `model`, where a model is `provider/model` or the vendor's name for it if exactly
 * one reachable account has it. A known model without an account is accepted too: its execution is refused with the page to
 * connect one. Throws InvalidInput for an ambiguous name, and UNKNOWN_CAPABILITY with the nearest matches for an unknown one.
 */
export async function readModel(
  ctx: Ctx,
  name: string,
  kind: ModelKind,
  projectId?: string,
): Promise<ModelRequest> {
  const found = (key: string) => kind.capabilities.find((each) => each.key === key);
  const whole = found(name);
  if (whole) return { capability: whole, named: null };
  const cut = name.indexOf("@");
  const before = cut < 0 ? name : name.slice(0, cut);
  const withModel = cut < 0 ? undefined : found(before);
  if (!withModel && catalog.isCapability(before)) return elsewhere(before, kind);
  const capability = withModel ?? catalog.getCapability(kind.ofAModel);
  const model = withModel ? name.slice(cut + 1) : name;
  return { capability, named: await readTarget(ctx, model, { capability, kind, projectId }) };
}

/** Rejects a capability that this kind of request cannot run. */
function elsewhere(key: string, kind: ModelKind): never {
  const others = MODEL_KINDS.filter(({ capabilities }) => capabilities.some((each) => each.key === key));
  const paths = [...others.flatMap(({ endpoints }) => endpoints), `/v1/capabilities/${key}`];
  fail("UNKNOWN_CAPABILITY", `${key} cannot run on this endpoint. Use ${paths.join(" or ")}.`, {
    nearestMatches: kind.capabilities.map((each) => each.key),
  });
}

async function readTarget(
  ctx: Ctx,
  name: string,
  { capability, kind, projectId }: { capability: Capability; kind: ModelKind; projectId: string | undefined },
): Promise<NonNullable<ModelRequest["named"]>> {
  // A model that does not depend on the project's own accounts is found without reading them.
  const listed = catalog.targetsOfPort(capability).find((target) => catalog.routeKey(target) === name);
  if (listed) return toNamed(listed);
  const viewer = await catalog.viewerOf(ctx, { projectId });
  const targets = catalog.targetsOfPort(capability, viewer.connections ?? []);
  const exact = targets.find((target) => catalog.routeKey(target) === name);
  if (exact) return toNamed(exact);
  const named = targets.filter(({ model }) => model.id === name);
  const reached = named.filter((target) => catalog.offersOf(target, viewer.connections ?? []).length > 0);
  const several = catalog.modelIds(reached);
  if (several.length > 1)
    fail("InvalidInput", `Several accounts have a model named ${name}. Use one of ${several.join(", ")}.`, {
      field: "model",
      nearestMatches: several,
    });
  const [target] = [...reached, ...named];
  return target ? toNamed(target) : noModel(name, kind, viewer, capability);
}

const toNamed = ({ provider, model }: catalog.Target) => ({
  providerPin: provider.name,
  preferredModel: model.id,
});

/** The most models that are suggested in addition to capabilities. */
const MOST_PROPOSED = 5;

/** The error for an unknown name: the nearest models and capabilities, and where to connect more. */
export function noModel(
  name: string,
  kind: ModelKind,
  viewer: catalog.Viewer,
  capability = catalog.getCapability(kind.ofAModel),
): never {
  const { targets } = catalog.reachableNow(capability, viewer);
  const usual = targets.filter(({ model }) => !model.onlyByName);
  const models = byNearness(name, usual, (target) => [catalog.routeKey(target), target.model.id]);
  const proposed = catalog.modelIds(models).slice(0, MOST_PROPOSED);
  const keys = byNearness(
    name,
    kind.capabilities.map(({ key }) => key),
    (key) => [key],
  );
  // A name with dots and a version was probably meant as a capability.
  const isKey = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+\.v\d+$/.test(name);
  const nearestMatches = isKey ? [...keys, ...proposed] : [...proposed, ...keys];
  const connectUrl = connectUrlFor(viewer);
  const what = isKey ? catalog.noCapability(name) : `The model ${name.slice(0, 190)} does not exist here.`;
  const nearest = nearestMatches.slice(0, 3).join(", ");
  const listed = "GET /v1/models lists what this key can run.";
  const connect = `To use another model, connect an account or server that has it: ${connectUrl}`;
  throw new Fault("UNKNOWN_CAPABILITY", `${what} Nearest matches: ${nearest}. ${listed} ${connect}`, {
    nearestMatches,
    connectUrl,
  });
}

const connectUrlFor = ({ project, environment }: catalog.Viewer): string =>
  project
    ? catalog.connectUrlOf({ id: project.id, environment: environment ?? project.environment })
    : publicUrl;
