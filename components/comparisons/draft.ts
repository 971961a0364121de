import {
  type Competitor,
  type CompetitorOptions,
  FEWEST_COMPETITORS,
  MOST_COMPETITORS,
  type ShownCompetitor,
} from "@/server/contract/comparisons";

type Json = Extract<Competitor, { axis: "recipe" }>["inputOverrides"];

/** One field that a recipe has otherwise: with a value of its own, or left out. */
export type Override = { field: string; value: unknown; isLeftOut: boolean };
export type Recipe = { id: string; label: string; overrides: Override[] };
/** Who is to compete, as the form holds it. */
export type Draft = {
  pins: string[];
  profiles: { profileKey: string; profileVersion: string }[];
  recipes: Recipe[];
};

export const NOBODY: Draft = { pins: [], profiles: [], recipes: [] };

/** What the form begins with: one model of each provider that is there, or as many of the only one as it takes. */
export function draftOf({ providers }: Pick<CompetitorOptions, "providers">): Draft {
  const there = providers.filter(({ available }) => available);
  const first = there.filter(
    (each, at) => there.findIndex(({ provider }) => provider === each.provider) === at,
  );
  const others = there.filter((each) => !first.includes(each));
  const missing = Math.max(0, FEWEST_COMPETITORS - first.length);
  const chosen = [...first.slice(0, MOST_COMPETITORS), ...others.slice(0, missing)];
  return { ...NOBODY, pins: chosen.map(({ providerPin }) => providerPin) };
}

export const countOf = ({ pins, profiles, recipes }: Draft) => pins.length + profiles.length + recipes.length;
export const isFull = (draft: Draft) => countOf(draft) >= MOST_COMPETITORS;
export const isEnough = (draft: Draft) =>
  countOf(draft) >= FEWEST_COMPETITORS && !(countOf(draft) > MOST_COMPETITORS);

/** The competitors of a draft: those by provider, then by profile, then by recipe. */
export function competitorsOf({ pins, profiles, recipes }: Draft): Competitor[] {
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

/** The fields that each competitor has otherwise: what the request says of them is nobody's. */
export function variedByAll({ pins, profiles, recipes }: Draft): string[] {
  if (pins.length + profiles.length > 0) return [];
  const [first, ...others] = recipes.map((recipe) => Object.keys(Object(overridesOf(recipe))));
  return (first ?? []).filter((field) => others.every((fields) => fields.includes(field)));
}

/** Null takes a field away; one without a value is not varied yet. */
function overridesOf({ overrides }: Recipe): Json {
  return Object.fromEntries(
    overrides
      .filter(({ value, isLeftOut }) => isLeftOut || value !== undefined)
      .map(({ field, value, isLeftOut }) => [field, isLeftOut ? null : value]),
  ) as Json; // what a form of the input's own schema holds is JSON
}

/** A competitor in the words it was named by. */
export function competitorName(competitor: Competitor | ShownCompetitor): string {
  switch (competitor.axis) {
    case "provider":
      return competitor.providerPin ?? "";
    case "profile":
      return [competitor.profileKey, competitor.profileVersion].filter(Boolean).join(" ");
    case "recipe":
      return (
        competitor.label || `Other ${Object.keys(competitor.inputOverrides ?? {}).join(", ") || "recipe"}`
      );
  }
}
