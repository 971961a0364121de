import { z } from "zod";
import { JsonObject } from "@/server/contract/common";
import type { Json } from "@/server/platform/durable/step";
import { ValidationFault } from "@/server/platform/errors/errors";
import type { ModelFacts } from "@/server/providers/define";
import { BY_MODEL } from "../define";

/* Fields that audio inputs share, and their checks against a model. */

export const VariantCount = z
  .int()
  .min(1)
  .max(4)
  .default(1)
  .describe("The number of takes. Each becomes an artifact.");
export const DiversityMode = z
  .enum(["none", "auto"])
  .optional()
  .describe("auto: takes differ from each other, even with a seed. Default auto.");
export const ModelId = z
  .string()
  .min(1)
  .optional()
  .describe("The provider's id of a model, or auto for any.");
export const ProviderExtensions = JsonObject.optional().describe(
  "Provider-specific fields. Those that the model does not know are not sent.",
);

export const isNamed = (modelId: string | undefined, model: ModelFacts): boolean =>
  modelId === undefined || modelId === "auto" || modelId === model.id;

type Extensions = Record<string, Json> | undefined;

/** Does the model know all extensions? Such a model is preferred. */
export const takesExtensions = (extensions: Extensions, { audio }: ModelFacts): boolean =>
  Object.keys(extensions ?? {}).every((name) => audio?.extensions && Object.hasOwn(audio.extensions, name));

/**
 * The extensions that the model knows, ready to send. Throws a 422 fault at the first invalid value. Unknown extensions
 * are not sent, because they could change the length, the model or the price.
 */
export function extensionsFor(
  extensions: Extensions,
  model: ModelFacts,
): { extensions?: Record<string, Json> } {
  const known = model.audio?.extensions ?? {};
  const entries = Object.entries(extensions ?? {}).filter(([name]) => Object.hasOwn(known, name));
  for (const [name, value] of entries) {
    const kind = known[name];
    if (Array.isArray(kind) && !kind.some((each) => each === value)) {
      refuse(["providerExtensions", name], `This must be one of ${kind.join(", ")}.`);
    } else if (!Array.isArray(kind) && typeof value !== kind) {
      refuse(["providerExtensions", name], `This must be a ${kind}.`);
    }
  }
  return entries.length > 0 ? { extensions: Object.fromEntries(entries) } : {};
}

/** Most characters of a caller's text that a refusal quotes. */
const MOST_SHOWN_CHARACTERS = 200;

/** The vendor's name of a format. Throws a 422 fault if the model has no such format that results in Ogg or MP3. */
export function formatFor(preference: string | undefined, { audio, id }: ModelFacts): { format?: string } {
  if (preference === undefined) return {};
  const formats = audio?.formats ?? [];
  if (!formats.includes(preference)) {
    const instead = formats.length > 0 ? `one of ogg, mp3, ${formats.join(", ")}` : "ogg or mp3";
    refuse(
      ["outputFormatPreference"],
      `${id} does not make ${preference.slice(0, MOST_SHOWN_CHARACTERS)}. Use ${instead}.`,
    );
  }
  return { format: preference };
}

function refuse(field: string[], msg: string): never {
  throw new ValidationFault([{ loc: ["body", "input", ...field], msg, type: "unsupported" }]);
}

/** Can the model make something this long? Shorter requests are raised to its minimum length. */
export const isShortEnough = (durationMs: number, { duration }: ModelFacts): boolean =>
  !duration || durationMs <= duration.maxMs;
export const atLeast = (durationMs: number, { duration }: ModelFacts): number =>
  Math.max(durationMs, duration?.minMs ?? 0);

export const FEATURES = {
  syncInvoke: { supported: false },
  variants: { min: 1, max: 4, default: 1 },
  ...BY_MODEL,
} as const;
