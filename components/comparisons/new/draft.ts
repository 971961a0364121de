import type { Competitor, CompetitorOptions, ShownCompetitor } from "@/server/contract/comparisons";
import { FEWEST_COMPETITORS, MOST_COMPETITORS } from "@/server/contract/enums";

type Json = Extract<Competitor, { axis: "recipe" }>["inputOverrides"];

/** A field that a recipe changes: to another value, or omits. */
export type Override = { field: string; value: unknown; isLeftOut: boolean };
export type Recipe = { id: string; label: string; overrides: Override[] };
/** The chosen competitors, as form state. */
export type ComparisonDraft = {
  pins: string[];
  profiles: { profileKey: string; profileVersion: string }[];
  recipes: Recipe[];
};

export const NO_COMPETITORS: ComparisonDraft = { pins: [], profiles: [], recipes: [] };

/** The initial choice: one model per available provider, filled up with more models to the minimum. */
export function comparisonDraft({ providers }: Pick<CompetitorOptions, "providers">): ComparisonDraft {
  const there = providers.filter(({ available }) => available);
  const first = there.filter(
    (each, at) => there.findIndex(({ provider }) => provider === each.provider) === at,
  );
  const others = there.filter((each) => !first.includes(each));
  const missing = Math.max(0, FEWEST_COMPETITORS - first.length);
  const chosen = [...first.slice(0, MOST_COMPETITORS), ...others.slice(0, missing)];
  return { ...NO_COMPETITORS, pins: chosen.map(({ providerPin }) => providerPin) };
}

export const competitorCount = ({ pins, profiles, recipes }: ComparisonDraft) =>
  pins.length + profiles.length + recipes.length;
export const isFull = (draft: ComparisonDraft) => competitorCount(draft) >= MOST_COMPETITORS;
export const isEnough = (draft: ComparisonDraft) =>
  competitorCount(draft) >= FEWEST_COMPETITORS && !(competitorCount(draft) > MOST_COMPETITORS);

/** The competitors of a draft: providers, then profiles, then recipes. */
export function competitorsOf({ pins, profiles, recipes }: ComparisonDraft): Competitor[] {
  return [
    ...pins.map((providerPin) => ({ axis: "provider" as const, providerPin })),
    ...profiles.map((profile) => ({ axis: "profile" as const, ...profile })),
    ...recipes.map((recipe, place) => ({
      axis: "recipe" as const,
      label: recipe.label.trim() || `Recipe ${place + 1}`,
      inputOverrides: overridesOf(recipe),
    })),
  ];
}

/** The fields that every competitor changes, so that the request's own value is unused. */
export function variedByAll({ pins, profiles, recipes }: ComparisonDraft): string[] {
  if (pins.length + profiles.length > 0) return [];
  const [first, ...others] = recipes.map((recipe) => Object.keys(Object(overridesOf(recipe))));
  return (first ?? []).filter((field) => others.every((fields) => fields.includes(field)));
}

/** Null omits a field; a field without a value is not changed yet. */
function overridesOf({ overrides }: Recipe): Json {
  return Object.fromEntries(
    overrides
      .filter(({ value, isLeftOut }) => isLeftOut || value !== undefined)
      .map(({ field, value, isLeftOut }) => [field, isLeftOut ? null : value]),
  ) as Json; // the form edits an input schema, whose values are JSON
}

/** The display name of a competitor. */
export function competitorName(competitor: Competitor | ShownCompetitor): string {
  switch (competitor.axis) {
    case "provider":
      return competitor.providerPin ?? "";
    case "profile":
      return [competitor.profileKey, competitor.profileVersion].filter(Boolean).join(" ");
    case "recipe":
      return (
        competitor.label || `Changed ${Object.keys(competitor.inputOverrides ?? {}).join(", ") || "recipe"}`
      );
  }
}
