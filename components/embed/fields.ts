import { blankOf, type Schema } from "@/components/playground/schema";
import type { PanelBootstrap, PanelPresentation } from "@/server/contract/panels";

type Input = Record<string, unknown>;

const GROUPS: [keyof PanelPresentation, RegExp][] = [
  ["showPrompt", /^(prompt|texturePrompt)$/],
  ["showReferences", /(artifactIds?|references?|source|inlineImages?)$/i],
  ["showOutputCount", /^variantCount$/],
  ["showTransparency", /^(background|transparent|transparency|matte)/i],
  ["showGenerationStrategy", /^(generationStrategy|sheet)$/],
  ["showModel", /^(model|modelId)$/],
];

/** The schema of what a visitor may change: without locked fields and fields the embed hides. */
export function shownSchema({ capability, presentation, lockedInputs }: PanelBootstrap): Schema {
  const schema = (capability?.inputSchema ?? {}) as Schema; // published by us as JSON Schema
  const isShown = (name: string) =>
    !(name in lockedInputs) && !GROUPS.some(([flag, names]) => !presentation[flag] && names.test(name));
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => isShown(name)),
  );
  return { ...schema, properties, required: (schema.required ?? []).filter((name) => name in properties) };
}

/** The form's initial value: the smallest valid input, the session's initial values, and the locked fields. */
export function firstInput(bootstrap: PanelBootstrap): Input {
  const schema = shownSchema(bootstrap);
  return { ...(blankOf(schema, schema) as Input), ...bootstrap.initialInputs, ...bootstrap.lockedInputs };
}

/** Merges what a host fills in: only fields the form has, never locked ones. */
export function prefilled(bootstrap: PanelBootstrap, input: Input, given: Input): Input {
  const known = (bootstrap.capability?.inputSchema as Schema | undefined)?.properties ?? {};
  const taken = Object.entries(given).filter(([name]) => name in known && !(name in bootstrap.lockedInputs));
  return { ...input, ...Object.fromEntries(taken) };
}
