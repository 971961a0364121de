import type { Capability } from "@/server/capabilities/define";
import { MESH_PROFILES } from "@/server/contract/meshes";
import type { Json } from "@/server/platform/durable/step";

/** A named set of settings, which never change within one version. */
export type Profile = {
  key: string;
  version: string;
  title: string;
  description: string;
  /** Replaces this part of the request. */
  sampling?: { reasoningIntent: "economy" | "balanced" | "deep" | "maximum" };
  input?: Record<string, Json>;
};

/**
 * Profiles of one kind, and the capabilities that support them. Without a named version the last one
 * applies.
 */
const KINDS: { takes: (capability: Capability) => boolean; profiles: Profile[] }[] = [
  {
    takes: ({ execute, family }) => "port" in execute && execute.port === "text" && family === "text",
    profiles: (
      [
        ["economy", "Economical reasoning", "Reasons as little as the model allows."],
        ["balanced", "Balanced reasoning", "Reasons as long as most tasks need."],
        ["deep", "Deep reasoning", "Reasons longer and uses more tokens."],
        ["maximum", "Maximal reasoning", "Reasons as long as the model allows."],
      ] as const
    ).map(([reasoningIntent, title, description]) => ({
      key: `reasoning-${reasoningIntent}`,
      version: "1",
      title,
      description,
      sampling: { reasoningIntent },
    })),
  },
  {
    takes: takesField("quality"),
    profiles: (
      [
        ["low", "Low quality", "The fastest and cheapest image."],
        ["medium", "Medium quality", "The standard image."],
        ["high", "High quality", "The most detailed image."],
      ] as const
    ).map(([quality, title, description]) => ({
      key: `quality-${quality}`,
      version: "1",
      title,
      description,
      input: { quality },
    })),
  },
  {
    takes: takesField("meshProfile"),
    profiles: MESH_PROFILES.map((meshProfile) => ({
      key: `mesh-${meshProfile.replaceAll("_", "-")}`,
      version: "1",
      title: `Mesh profile ${meshProfile}`,
      description: `Makes the mesh with the profile ${meshProfile}.`,
      input: { meshProfile },
    })),
  },
];

function takesField(name: string) {
  return ({ input }: Capability) => inputFieldsOf({ input }).includes(name);
}

/** Returns the input fields of a capability; none if its schema does not list them. */
export const inputFieldsOf = ({ input }: Pick<Capability, "input">): string[] =>
  "shape" in input ? Object.keys(input.shape as object) : [];

/** Returns every profile of a capability, in all versions. */
export const profilesOf = (capability: Capability): Profile[] =>
  KINDS.filter(({ takes }) => takes(capability)).flatMap(({ profiles }) => profiles);
