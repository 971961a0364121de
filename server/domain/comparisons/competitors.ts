import type { Capability } from "@/server/capabilities/define";
import type { Competitor } from "@/server/contract/comparisons";
import type { RawEnvelope } from "@/server/contract/envelope";
import { targetsOfPort } from "@/server/domain/catalog";
import type { Connection } from "@/server/domain/connections";
import type { Json } from "@/server/platform/durable/step";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { type Profile, profilesOf } from "./profiles";

type Input = Record<string, Json>;
/** What a competitor makes of the request: parts of a job's envelope. */
type Part = { input: Input } & Pick<RawEnvelope, string>;

/** The request of one competitor, as a job is asked for. Refused at its place where it names what is not there. */
export function requestOf(
  capability: Capability,
  connections: readonly Connection[],
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

/** Fields that replace those of the input; null takes one away. */
function merged(input: Input, overrides: Input): Input {
  const whole = { ...input, ...overrides };
  return Object.fromEntries(
    Object.entries(whole).filter(([name]) => !(Object.hasOwn(overrides, name) && overrides[name] === null)),
  );
}

/**
 * What a pin names: one model, a provider, or a provider with what it does (`openai-image`), which has to be what the
 * capability asks for. Whether it can run the request is for the plan to say.
 */
function routeOf(
  capability: Capability,
  connections: readonly Connection[],
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
 * A competitor as it is kept for good: with the version that was taken, and of a recipe the names of its fields alone. What
 * they were set to is content of its job, and is kept and removed with that.
 */
export function toKept(capability: Capability, competitor: Competitor, place: number): Record<string, Json> {
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

/** What refused one competitor's job, said of the competitor. */
export function toRefusal(competitors: Competitor[], place: number, cause: unknown): unknown {
  const competitor = competitors[place]!; // its place in this very list
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

/** Where in a comparison's body a place in one job's body came from. */
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
