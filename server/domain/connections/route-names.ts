import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";
import type { BindingRow } from "./rows";

/*
 * One environment can have several servers whose owner lists the models. Routes name the first `openai-compatible/model`,
 * further ones `openai-compatible:label/model`. A binding keeps its name, so that receipts and lockfiles stay true.
 */

/** The label of a credential that was given none. */
const UNNAMED = "default";
const MOST_NAME = 40;

/** The name of the provider itself in the name of a route's provider. */
export const baseName = (name: string): string => name.split(":", 1)[0] ?? name;

/** The provider of a route by its name there; a further server is its provider under its own name. */
export function providerOfRoute(name: string): Provider | null {
  const base = baseName(name);
  const found = providers.find((provider) => provider.name === base) ?? null;
  if (base === name || !found) return found;
  return found.modelsFrom ? { ...found, name } : null;
}

/** A label as it is written in routes; empty where it has no letter or digit. */
const toName = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MOST_NAME)
    .replace(/^-|-$/g, "");

type Bound = BindingRow & { label: string };

/** The name a credential gets in an environment with these bindings of its provider, and the binding that has it now. */
export function nameAmong(
  bound: Bound[],
  { provider, label }: { provider: string; label: string },
  replaces: boolean,
): { name: string; before: Bound | undefined } {
  const first = bound.find((each) => each.provider === provider);
  const isAlone = !providers.find(({ name }) => name === provider)?.modelsFrom;
  const own = label === UNNAMED ? "" : toName(label);
  if (isAlone || own === "") return { name: provider, before: first };
  const name = `${provider}:${own}`;
  const same = bound.find((each) => each.provider === name || each.label === label);
  const before = same ?? (replaces ? first : undefined);
  return { name: before?.provider ?? (first ? name : provider), before };
}
