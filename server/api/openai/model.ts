import type { z } from "zod";
import type { Model } from "@/server/contract/openai";
import * as catalog from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";

/* What may stand in `model`: a capability that takes a conversation, one with a model, or a model alone. */

type Capability = (typeof catalog.allCapabilities)[number];

/** Where a model goes that is named without a capability: the one that takes every model of text. */
const OF_A_MODEL = "text.general.fast.v1";

/** The text capabilities that answer a conversation at once. */
const conversational: readonly Capability[] = catalog.allCapabilities.filter(
  ({ modes, execute, input }) =>
    modes.includes("invoke_sync") &&
    "port" in execute &&
    execute.port === "text" &&
    "shape" in input &&
    "messages" in (input.shape as object), // of an object's schema
);

export type Wanted = {
  capability: Capability;
  /** The `provider/model` that is named: it and no other. */
  named: string | null;
};

/**
 * Reads `capability`, `capability@provider/model` or `provider/model`. UNKNOWN_CAPABILITY, with what there is, for anything
 * else and for a capability that answers no conversation.
 */
export function readModel(name: string): Wanted {
  const cut = name.indexOf("@");
  const key = cut >= 0 ? name.slice(0, cut) : name;
  const found = conversational.find((each) => each.key === key);
  if (found) return { capability: found, named: cut >= 0 ? name.slice(cut + 1) : null };
  if (cut < 0 && name.includes("/")) return { capability: catalog.getCapability(OF_A_MODEL), named: name };
  const message = catalog.isCapability(key)
    ? `${key} does not answer a conversation at once; it has its own endpoints under /v1/capabilities/${key}.`
    : catalog.noCapability(key);
  fail("UNKNOWN_CAPABILITY", message, { nearestMatches: conversational.map((each) => each.key) });
}

/** The capabilities, then the models the caller reaches now. */
export async function listModels(ctx: Ctx, projectId?: string): Promise<z.output<typeof Model>[]> {
  const { connections } = await catalog.viewerOf(ctx, { projectId });
  const { targets } = catalog.executionTargets(catalog.getCapability(OF_A_MODEL), connections);
  return [
    ...conversational.map(({ key }) => toModel(key, "capstan")),
    ...targets
      .filter(({ availability }) => availability.available)
      .map(({ target, provider }) => toModel(target, provider)),
  ];
}

/** One of them, in any of the three spellings. */
export async function getModel(ctx: Ctx, name: string, projectId?: string): Promise<z.output<typeof Model>> {
  const { capability, named } = readModel(name);
  if (named === null) return toModel(name, "capstan");
  const { connections } = await catalog.viewerOf(ctx, { projectId });
  const { targets } = catalog.executionTargets(capability, connections);
  const found = targets.find(({ target, availability }) => target === named && availability.available);
  if (found) return toModel(name, found.provider);
  fail("UNKNOWN_CAPABILITY", `There is no model ${named} for ${capability.key} here.`, {
    nearestMatches: conversational.map((each) => each.key),
  });
}

const toModel = (id: string, owned_by: string) => ({ id, object: "model" as const, created: 0, owned_by });
