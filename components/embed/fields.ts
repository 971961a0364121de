import { blankOf, type InputSchema } from "@/components/playground/schema";
import type { EmbedBootstrap, EmbedPresentation } from "@/server/contract/embeds";

type Input = Record<string, unknown>;

const GROUPS: [keyof EmbedPresentation, RegExp][] = [
  ["showPrompt", /^(prompt|texturePrompt)$/],
  ["showReferences", /(artifactIds?|references?|source|inlineImages?)$/i],
  ["showOutputCount", /^variantCount$/],
  ["showTransparency", /^(background|transparent|transparency|matte)/i],
  ["showGenerationStrategy", /^(generationStrategy|sheet)$/],
  ["showModel", /^(model|modelId)$/],
];

/** The schema of the fields that a visitor may change: without locked fields and fields the embed hides. */
export function shownSchema({ capability, presentation, lockedInputs }: EmbedBootstrap): InputSchema {
  const schema: InputSchema = capability?.inputSchema ?? {};
  const isShown = (name: string) =>
    !(name in lockedInputs) && !GROUPS.some(([flag, names]) => !presentation[flag] && names.test(name));
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => isShown(name)),
  );
  return { ...schema, properties, required: (schema.required ?? []).filter((name) => name in properties) };
}

/** The form's initial value: the smallest valid input, the session's initial values, and the locked fields. */
export function initialEmbedInput(bootstrap: EmbedBootstrap): Input {
  const schema = shownSchema(bootstrap);
  return { ...(blankOf(schema, schema) as Input), ...bootstrap.initialInputs, ...bootstrap.lockedInputs };
}

/**
 * Merges values from the host into the input: for all fields of the capability, also hidden ones, but never for locked ones.
 */
export function prefilled(bootstrap: EmbedBootstrap, input: Input, given: Input): Input {
  const { properties: known = {} }: InputSchema = bootstrap.capability?.inputSchema ?? {};
  const taken = Object.entries(given).filter(([name]) => name in known && !(name in bootstrap.lockedInputs));
  return { ...input, ...Object.fromEntries(taken) };
}
