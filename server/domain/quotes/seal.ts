import { createHash } from "node:crypto";
import type { Resolved } from "@/server/domain/adapters";
import { PRICING_VERSION } from "@/server/domain/catalog";
import type { Json } from "@/server/platform/durable/step";
import { canonicalInTurns, canonicalText, hasManyValues, sha256Hex } from "@/server/platform/text/canonical";
import { LARGE, turn } from "@/server/platform/time/turn";
import type { RoutingRequest } from "./routing-request";

/** What a quote is sealed to: the hash of everything that prices or routes, and of each part, to find which changed. */
export type Seal = { hash: string; parts: Record<string, string> };

/**
 * Seals a request: SHA-256 of the RFC 8785 form of everything that prices or routes. The order of keys and white space
 * are not part of that form; everything else is.
 */
export async function sealOf({
  capabilityKey,
  project,
  billingMode,
  wanted,
  adapters,
}: {
  capabilityKey: string;
  project: { id: string; environment: string };
  billingMode: "byok" | "managed" | null;
  wanted: RoutingRequest;
  adapters: Resolved;
}): Promise<Seal> {
  const { providerPin, preferredModel, autoSelect } = wanted.execution.executionConstraints;
  const { responseSchema, adapters: _, ...input } = wanted.input;
  const sealed: Record<string, Json> = {
    capability: capabilityKey,
    projectId: project.id,
    environment: project.environment,
    billingMode,
    input,
    // By what they pointed to, not by their names.
    ...(adapters.adapters.length > 0 ? { "input.adapters": meantBy(adapters) } : {}),
    constraints: {
      providerPin: providerPin ?? null,
      preferredModel: preferredModel ?? null,
      autoSelect,
    },
    pin: wanted.pin?.target ?? null,
    sampling: wanted.sampling ?? null,
    toolSchemas: wanted.toolSchemas ?? null,
    // A bare job body has it in the envelope, a bare quote body in the input: the same request.
    responseSchema: wanted.responseSchema ?? responseSchema ?? null,
    ...(wanted.responseSchemaName ? { responseSchemaName: wanted.responseSchemaName } : {}),
    ...(typeof wanted.responseSchemaStrict === "boolean"
      ? { responseSchemaStrict: wanted.responseSchemaStrict }
      : {}),
    pricingVersion: PRICING_VERSION,
    ...(wanted.conversation ? { conversation: wanted.conversation } : {}),
  };
  const parts = Object.fromEntries(Object.keys(sealed).map((name) => [name, ""]));
  const whole = createHash("sha256");
  const hasMany = hasManyValues(sealed); // asked once, since a usual request has no use for a promise a part
  // The canonical form of an object is that of its members, by their names: each is made once, for its own hash and for that
  // of all.
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
