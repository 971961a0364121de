import { createHash } from "node:crypto";
import type { Resolved } from "@/server/domain/adapters";
import { PRICING_VERSION } from "@/server/domain/catalog";
import type { Json } from "@/server/platform/durable/step";
import {
  canonicalInTurns,
  canonicalText,
  contentOf,
  hasManyValues,
  sha256Hex,
} from "@/server/platform/text/canonical";
import { LARGE, turn } from "@/server/platform/time/turn";
import type { RoutingRequest } from "./routing-request";

/**
 * Seal of a quote: the hash of everything that prices or routes, and the hash of each part, which shows the
 * part that changed.
 */
export type Seal = { hash: string; parts: Record<string, string> };

type Priced = {
  capabilityKey: string;
  project: { id: string; environment: string };
  billingMode: "byok" | "managed" | null;
  wanted: RoutingRequest;
  adapters: Resolved;
};

/** The part of a request that prices or routes. */
function sealedOf({ capabilityKey, project, billingMode, wanted, adapters }: Priced): Record<string, Json> {
  const { providerPin, preferredModel, autoSelect } = wanted.execution.executionConstraints;
  const { responseSchema, adapters: _, ...input } = wanted.input;
  return {
    capability: capabilityKey,
    projectId: project.id,
    environment: project.environment,
    billingMode,
    input,
    // Sealed by version, not by name.
    ...(adapters.adapters.length > 0 ? { "input.adapters": meantBy(adapters) } : {}),
    constraints: {
      providerPin: providerPin ?? null,
      preferredModel: preferredModel ?? null,
      autoSelect,
    },
    pin: wanted.pin?.target ?? null,
    sampling: wanted.sampling ?? null,
    toolSchemas: wanted.toolSchemas ?? null,
    // A bare job body has the schema in the envelope, a bare quote body in the input; both are the same
    // request.
    responseSchema: wanted.responseSchema ?? responseSchema ?? null,
    ...(wanted.responseSchemaName ? { responseSchemaName: wanted.responseSchemaName } : {}),
    ...(typeof wanted.responseSchemaStrict === "boolean"
      ? { responseSchemaStrict: wanted.responseSchemaStrict }
      : {}),
    pricingVersion: PRICING_VERSION,
    ...(wanted.conversation ? { conversation: wanted.conversation } : {}),
  };
}

/** The seal of a request, and its hash alone, each computed on call. */
export const sealsOf = (priced: Priced) => ({
  seal: () => sealOf(sealedOf(priced)),
  sealHash: async () => (await contentOf(sealedOf(priced))).sha256,
});

/**
 * Seals a request with the SHA-256 of the RFC 8785 form of everything that prices or routes. Key order, white
 * space and the spelling of numbers and strings do not change that form.
 */
async function sealOf(sealed: Record<string, Json>): Promise<Seal> {
  const parts = Object.fromEntries(Object.keys(sealed).map((name) => [name, ""]));
  const whole = createHash("sha256");
  const hasMany = hasManyValues(sealed); // checked once for the whole request, so that an ordinary request does not wait for a promise per part
  // Canonicalizes each member once: its text feeds both its own hash and the hash of the whole.
  for (const [place, [name, part]] of Object.entries(sealed).sort(byName).entries()) {
    const text = hasMany ? await canonicalInTurns(part) : canonicalText(part);
    const isLarge = text.length > LARGE;
    if (isLarge) await turn();
    const bytes = isLarge ? Buffer.from(text) : text; // encoded once for both hashes
    if (isLarge) await turn();
    parts[name] = sha256Hex(bytes);
    whole.update(`${place === 0 ? "{" : ","}${canonicalText(name)}:`).update(bytes);
    if (isLarge) await turn();
  }
  return { hash: whole.update("}").digest("hex"), parts };
}

const byName = ([one]: [string, Json], [other]: [string, Json]) => (one < other ? -1 : 1);

const meantBy = ({ adapters, isDefault }: Resolved): Json => ({
  isDefault,
  adapters: adapters.map(({ adapterId, alias, weight }) => ({
    adapterId,
    versionId: alias?.versionId ?? null,
    weight,
  })),
});
