import type { z } from "zod";
import type { Model, ModelMetadata } from "@/server/contract/openai";
import * as catalog from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { outputLimits } from "@/server/domain/quotes";
import { microsToUsd } from "@/server/platform/money";
import { conversation, MODEL_KINDS, type ModelKind } from "./kinds";
import { noModel, readModel } from "./model";

/* The list of models that a caller can run now, with limits, price and features. */

type Capability = (typeof catalog.allCapabilities)[number];
type Listed = z.output<typeof Model>;
type Metadata = z.output<typeof ModelMetadata>;
type Facts = catalog.Target["model"];

/** The capabilities, then the models, that the caller can use now. */
export async function listModels(ctx: Ctx, projectId?: string): Promise<Listed[]> {
  const viewer = await catalog.viewerOf(ctx, { projectId });
  const capabilities = MODEL_KINDS.flatMap((kind) =>
    kind.capabilities.flatMap((capability) => {
      const { first } = catalog.reachableNow(capability, viewer);
      return first ? [ofCapability(kind, capability, first)] : [];
    }),
  );
  const models = MODEL_KINDS.flatMap((kind) => {
    const capability = catalog.getCapability(kind.ofAModel);
    return catalog
      .reachableNow(capability, viewer)
      .targets.map((target) => ofModel(catalog.routeKey(target), kind, capability, target));
  });
  return [...capabilities, ...together(models)];
}

/** One entry of the list, by any of its names. */
export async function getModel(ctx: Ctx, name: string, projectId?: string): Promise<Listed> {
  const viewer = await catalog.viewerOf(ctx, { projectId });
  const found: Listed[] = [];
  let refusal: unknown;
  for (const kind of MODEL_KINDS) {
    try {
      const { capability, named } = await readModel(ctx, name, kind, projectId);
      const { targets, first } = catalog.reachableNow(capability, viewer);
      const target = named
        ? targets.find(
            ({ provider, model }) => provider.name === named.providerPin && model.id === named.preferredModel,
          )
        : first;
      if (target)
        found.push(named ? ofModel(name, kind, capability, target) : ofCapability(kind, capability, target));
    } catch (cause) {
      refusal ??= cause;
    }
  }
  const [one] = together(found);
  if (one) return one;
  if (refusal) throw refusal;
  return noModel(name, conversation, viewer);
}

/** Merges the entries of a model that serves several kinds of requests. */
function together(models: Listed[]): Listed[] {
  const byId = new Map<string, Listed>();
  for (const model of models) {
    const before = byId.get(model.id);
    byId.set(model.id, before ? { ...before, metadata: joined(before.metadata, model.metadata) } : model);
  }
  return [...byId.values()];
}

const joined = (first: Metadata, second: Metadata): Metadata => ({
  ...first,
  endpoints: [...new Set([...first.endpoints, ...second.endpoints])],
  prices: [...first.prices, ...second.prices],
  features: { ...second.features, ...first.features },
});

const ofCapability = (kind: ModelKind, capability: Capability, target: catalog.Target): Listed =>
  toListed({ id: capability.key, owned_by: "capstan" }, kind, capability, target);

const ofModel = (id: string, kind: ModelKind, capability: Capability, target: catalog.Target): Listed =>
  toListed({ id, owned_by: target.provider.name }, kind, capability, target);

function toListed(
  { id, owned_by }: Pick<Listed, "id" | "owned_by">,
  { endpoints }: ModelKind,
  capability: Capability,
  target: catalog.Target,
): Listed {
  const { model } = target;
  const { byDefault, atMost } = outputLimits(capability, model);
  return {
    id,
    object: "model",
    created: 0,
    owned_by,
    metadata: {
      route: catalog.routeKey(target),
      endpoints: [...endpoints],
      contextWindow: contextOf(capability, model),
      defaultMaxOutputTokens: byDefault,
      maxOutputTokens: atMost,
      prices: [toPrice(model.price)],
      features: Object.fromEntries(
        Object.entries(model.supports).map(([name, value]) => [name, Boolean(value)]),
      ),
    },
  };
}

/** The tokens a request may have: the model's window, limited by the capability; null if neither sets a limit. */
function contextOf({ inputConstraints }: Capability, { contextWindow }: Facts): number | null {
  const limits = Object.values(inputConstraints).flatMap(({ measurement, max }) =>
    measurement === "tokens" && max !== undefined ? [max] : [],
  );
  const least = Math.min(...limits, contextWindow ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(least) ? least : null;
}

/** A list price in US dollars. */
function toPrice(price: Facts["price"]): Metadata["prices"][number] {
  const currency = "USD" as const;
  switch (price.per) {
    case "million_tokens":
      return {
        per: price.per,
        currency,
        input: microsToUsd(price.input),
        ...(price.cachedInput === undefined ? {} : { cachedInput: microsToUsd(price.cachedInput) }),
        ...(price.cacheWrite === undefined
          ? {}
          : {
              cacheWrite: {
                "5m": microsToUsd(price.cacheWrite["5m"]),
                "1h": microsToUsd(price.cacheWrite["1h"]),
              },
            }),
        output: microsToUsd(price.output),
        ...(price.reasoning === undefined ? {} : { reasoning: microsToUsd(price.reasoning) }),
      };
    case "image":
      return {
        per: price.per,
        currency,
        sizes: price.sizes.map(({ width, height, micros }) => ({
          size: `${width}x${height}`,
          byQuality: Object.fromEntries(
            Object.entries(micros).map(([quality, amount]) => [quality, microsToUsd(amount)]),
          ),
        })),
      };
    default:
      return { per: price.per, currency, amount: microsToUsd(price.micros) };
  }
}
