import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";
import type { BindingRow } from "./rows";

/*
 * One environment can have several servers whose owner lists the models. Routes name the first
 * `openai-compatible/model`, further ones `openai-compatible:label/model`. A binding keeps its name, so that
 * receipts and lockfiles stay valid.
 */

/** Label of a credential that was created without one. */
const UNNAMED = "default";
const MOST_NAME = 40;

/** The provider's own name, cut from its name in a route. */
export const baseName = (name: string): string => name.split(":", 1)[0] ?? name;

/** The provider that a route names; null if unknown. A further server is its provider under its own name. */
export function providerOfRoute(name: string): Provider | null {
  const base = baseName(name);
  const found = providers.find((provider) => provider.name === base) ?? null;
  if (base === name || !found) return found;
  return found.modelsFrom ? { ...found, name } : null;
}

/** A label in the form that routes use; empty if it has no letter or digit. */
const toName = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MOST_NAME)
    .replace(/^-|-$/g, "");

type Bound = BindingRow & { label: string };

/**
 * The name of a credential among these bindings of its provider in an environment, and the binding that has
 * the name now.
 */
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
