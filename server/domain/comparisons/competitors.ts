import type { Capability } from "@/server/capabilities/define";
import type { Competitor } from "@/server/contract/comparisons";
import type { RawEnvelope } from "@/server/contract/envelope";
import { targetsOfPort } from "@/server/domain/catalog";
import type { BoundConnection } from "@/server/domain/connections";
import type { Json } from "@/server/platform/durable/step";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { type Profile, profilesOf } from "./profiles";

type Input = Record<string, Json>;
/** The parts of a job's envelope that depend on its competitor. */
type Part = { input: Input } & Pick<RawEnvelope, string>;

/**
 * Builds the job request of one competitor. Throws a 422 at the competitor if its provider or profile does
 * not exist.
 */
export function requestOf(
  capability: Capability,
  connections: readonly BoundConnection[],
  { input, competitor, place }: { input: Input; competitor: Competitor; place: number },
): Part {
  switch (competitor.axis) {
    case "provider":
      return { input, ...routeOf(capability, connections, competitor.providerPin, place) };
    case "recipe":
      return { input: merged(input, competitor.inputOverrides) };
    case "profile": {
      const profile = profileOf(capability, competitor, place);
      return {
        input: { ...input, ...profile.input },
        ...(profile.sampling ? { sampling: profile.sampling } : {}),
      };
    }
  }
}

/** Replaces fields of the input; an override of null removes the field. */
function merged(input: Input, overrides: Input): Input {
  const whole = { ...input, ...overrides };
  return Object.fromEntries(
    Object.entries(whole).filter(([name]) => !(Object.hasOwn(overrides, name) && overrides[name] === null)),
  );
}

/**
 * Resolves a pin: a model, a provider, or a provider with its port or modality (`openai-image`), which must
 * match the capability. The plan decides later whether the route can run the request.
 */
function routeOf(
  capability: Capability,
  connections: readonly BoundConnection[],
  pin: string,
  place: number,
): Omit<RawEnvelope, "input"> {
  const at = ["competitors", place, "providerPin"];
  const { execute } = capability;
  if ("local" in execute)
    return refuse(at, `${capability.key} runs without a provider, so there is nothing to compare.`);
  const named = (providerPin: string, preferredModel: string | null = null) => ({
    execution: { executionConstraints: { providerPin, preferredModel } },
  });
  const [name = "", ...model] = pin.split("/");
  if (name && model.length > 0) return named(name, model.join("/"));
  const names = [...new Set(targetsOfPort(capability, connections).map(({ provider }) => provider.name))];
  if (names.includes(pin)) return named(pin);
  const does = [execute.port, capability.modality];
  const found = names.find((name) => does.some((what) => pin === `${name}-${what}`));
  if (found) return named(found);
  const known = names.map((name) => `${name}-${execute.port}`).join(", ");
  return refuse(at, `${capability.key} has no such provider. Use ${known}, or provider/model.`);
}

function profileOf(
  capability: Capability,
  { profileKey, profileVersion }: Extract<Competitor, { axis: "profile" }>,
  place: number,
): Profile {
  const all = profilesOf(capability);
  const versions = all.filter(({ key }) => key === profileKey);
  const known = [...new Set(all.map(({ key }) => key))].join(", ");
  const last =
    versions.at(-1) ??
    refuse(
      ["competitors", place, "profileKey"],
      known ? `${capability.key} has no such profile. Use ${known}.` : `${capability.key} has no profiles.`,
    );
  if (!profileVersion) return last;
  return (
    versions.find(({ version }) => version === profileVersion) ??
    refuse(
      ["competitors", place, "profileVersion"],
      `${profileKey} has no such version. Use ${versions.map(({ version }) => version).join(", ")}.`,
    )
  );
}

/**
 * Builds the permanent form of a competitor: a profile with its resolved version, a recipe with its field
 * names only. The values of a recipe are content of its job, and are stored and removed with the job.
 */
export function toStoredCompetitor(
  capability: Capability,
  competitor: Competitor,
  place: number,
): Record<string, Json> {
  switch (competitor.axis) {
    case "provider":
      return { ...competitor };
    case "recipe": {
      const { axis, label, inputOverrides } = competitor;
      const names = Object.keys(inputOverrides).map((name) => [name, null]);
      return { axis, label: label || null, inputOverrides: Object.fromEntries(names) };
    }
    case "profile": {
      const { axis, profileKey } = competitor;
      return { axis, profileKey, profileVersion: profileOf(capability, competitor, place).version };
    }
  }
}

/** Maps the refusal of one competitor's job to the body of the comparison. */
export function toComparisonFault(competitors: Competitor[], place: number, cause: unknown): unknown {
  const competitor = competitors[place]!; // `place` is an index of this list
  if (cause instanceof ValidationFault) {
    return new ValidationFault(
      cause.issues.map((issue) => ({ ...issue, loc: ["body", ...placeOf(competitor, place, issue.loc)] })),
    );
  }
  if (!(cause instanceof Fault)) return cause;
  const { code, message, details, headers } = cause;
  const field = typeof details.field === "string" ? details.field : null;
  const isRoute = field !== null && ROUTE_FIELDS.includes(field) && competitor.axis === "provider";
  const said = isRoute ? { ...details, field: `competitors.${place}.providerPin` } : details;
  return new Fault(code, message, { ...said, competitor: place }, { headers, cause });
}

const ROUTE_FIELDS = ["providerPin", "preferredModel"].map(
  (name) => `execution.executionConstraints.${name}`,
);

/** Maps a path in a job's body to its source in the comparison's body. */
function placeOf(competitor: Competitor, place: number, [, ...loc]: (string | number)[]) {
  const own = ["competitors", place];
  const [part, field] = loc;
  const isOverride =
    competitor.axis === "recipe" && part === "input" && Object.hasOwn(competitor.inputOverrides, `${field}`);
  return isOverride ? [...own, "inputOverrides", ...loc.slice(1)] : [...own, ...loc];
}

function refuse(at: (string | number)[], msg: string): never {
  throw new ValidationFault([{ loc: ["body", ...at], msg, type: "value_error" }]);
}
