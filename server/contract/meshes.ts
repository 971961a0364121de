import { z } from "zod";
import { AnyJson } from "./common";

export const MESH_PROFILES = [
  "draft_fast",
  "toy_default",
  "clean_game_mesh",
  "hero_hd",
  "enhanced_retry",
] as const;
export type MeshProfile = (typeof MESH_PROFILES)[number];
const DEFAULT_PROFILE = "toy_default" satisfies MeshProfile;

export const TEXTURE_PROMPT_CHARACTERS = 800;
export const MOST_MESH_PICTURES = 4;

// `meshSettingsOf` fills in the defaults of these two, because it must know which values were really sent.
const Profile = z.enum(MESH_PROFILES).optional().meta({ default: DEFAULT_PROFILE });
const ShouldTexture = z
  .boolean()
  .optional()
  .meta({ default: false })
  .describe("Whether to texture the mesh. A texture prompt, mode or reference implies it.");
// Prompt lengths are only published here: a longer prompt fails with PromptTooLong, by the capability's input
// constraints.
const TexturePrompt = z.string().meta({ maxLength: TEXTURE_PROMPT_CHARACTERS }).optional();
const Id = z.string().min(1).optional();

const Overrides = z
  .object({ texturePrompt: TexturePrompt })
  .catchall(AnyJson)
  .optional()
  .describe(
    "Its texturePrompt takes precedence over the top-level one. Other fields are stored with the request and not sent.",
  );

const FORMAT = z.literal("glb").default("glb");
const PROFILE_REF = z
  .string()
  .optional()
  .describe("Your own name for these settings, stored with the request.");

/** Fields that both inputs share about the mesh and its texture. */
type Spoken = {
  meshProfile?: MeshProfile | undefined;
  meshSettings?:
    | {
        profile?: MeshProfile | undefined;
        overrides?: { texturePrompt?: string | undefined } | undefined;
        shouldTexture?: boolean | undefined;
        textureMode?: string | undefined;
        texturePrompt?: string | undefined;
        textureReferenceArtifactId?: string | undefined;
      }
    | undefined;
  textureReferenceArtifactId?: string | undefined;
};

/** Refuses contradictory settings, at the second of the two fields. */
function refuseConflicts(input: Spoken, context: z.RefinementCtx): void {
  const { meshProfile, meshSettings: settings, textureReferenceArtifactId: reference } = input;
  const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
  if (meshProfile && settings?.profile && settings.profile !== meshProfile)
    refuse(["meshSettings", "profile"], `This differs from meshProfile ${meshProfile}. Send one of them.`);
  const inner = settings?.textureReferenceArtifactId;
  if (reference && inner && inner !== reference)
    refuse(
      ["meshSettings", "textureReferenceArtifactId"],
      "This differs from textureReferenceArtifactId, and a mesh can have only one texture reference. Send one of them.",
    );
  if (settings?.shouldTexture === false && asksForTexture(input))
    refuse(
      ["meshSettings", "shouldTexture"],
      "This is false, but a texture prompt, mode or reference is set. Remove one or the other.",
    );
}

const asksForTexture = ({ meshSettings: settings, textureReferenceArtifactId }: Spoken) =>
  [
    textureReferenceArtifactId,
    settings?.textureReferenceArtifactId,
    settings?.texturePrompt,
    settings?.overrides?.texturePrompt,
    settings?.textureMode,
  ].some((said) => said !== undefined);

const MeshSettings = z
  .strictObject({
    profile: z.enum(MESH_PROFILES).optional(),
    overrides: Overrides,
    shouldTexture: ShouldTexture,
    textureMode: z.string().optional(),
    texturePrompt: TexturePrompt,
    textureReferenceArtifactId: Id,
  })
  .optional();

export const MeshInput = z
  .strictObject({
    inputArtifactIds: z
      .array(z.string().min(1))
      .min(1)
      .max(MOST_MESH_PICTURES)
      .describe("One to four pictures of one object. The first shows its front."),
    meshProfile: Profile,
    meshSettings: MeshSettings,
    conceptArtifactId: Id.describe(
      "A concept picture. The texture follows it unless another texture setting is given.",
    ),
    textureReferenceArtifactId: Id.describe("A picture the texture follows."),
    profileRef: PROFILE_REF,
    format: FORMAT,
  })
  .superRefine(refuseConflicts);
export type MeshInput = z.output<typeof MeshInput>;

export const TURNAROUND_MODES = ["sheet2x2", "sheet1x4", "perView", "panelRepair"] as const;
/** Sides of an object in a turnaround, in their order on a sheet. */
export const VIEWS = ["front", "right", "back", "left"] as const;
export type View = (typeof VIEWS)[number];

export const MeshFromImageInput = z
  .strictObject({
    baseArtifactId: z.string().min(1).describe("The picture of the object."),
    turnaroundMode: z
      .enum(TURNAROUND_MODES)
      .default("sheet2x2")
      .describe(
        "How its four sides are drawn: on one sheet, each separately, or on a sheet whose missing and broken views are redrawn.",
      ),
    meshProfile: Profile,
    meshSettings: MeshSettings,
    resolvedPrompt: z
      .string()
      .meta({ maxLength: 32_000 })
      .optional()
      .describe(
        "A description of the object, used for drawing it. What we say of the views is left out where it does not fit beside it.",
      ),
    requireTurnaroundApproval: z
      .boolean()
      .default(false)
      .describe("Whether a person must review the drawn views before the mesh is made."),
    format: FORMAT,
    profileRef: PROFILE_REF,
  })
  .superRefine(refuseConflicts);
export type MeshFromImageInput = z.output<typeof MeshFromImageInput>;

export const MeshOutput = z.strictObject({
  mesh: z.strictObject({
    mediaType: z.literal("model/gltf-binary"),
    filename: z.string(),
    byteLength: z.int(),
    meshes: z.int(),
    vertices: z.int(),
    triangles: z.int(),
    textured: z.boolean(),
  }),
});
export type MeshOutput = z.output<typeof MeshOutput>;

/** The profile and the texture settings; `texture` is null if the mesh is not textured. */
export function meshSettingsOf(input: Spoken): {
  profile: MeshProfile;
  texture: { prompt?: string; mode?: string } | null;
} {
  const { meshSettings: settings } = input;
  const prompt = settings?.overrides?.texturePrompt ?? settings?.texturePrompt;
  return {
    profile: input.meshProfile ?? settings?.profile ?? DEFAULT_PROFILE,
    texture:
      settings?.shouldTexture || asksForTexture(input)
        ? {
            ...(prompt ? { prompt } : {}),
            ...(settings?.textureMode ? { mode: settings.textureMode } : {}),
          }
        : null,
  };
}

/** The artifact that the texture follows, and the path of the field that names it; null if none does. */
export function textureReferenceOf(input: Spoken): { artifactId: string; field: string[] } | null {
  const { textureReferenceArtifactId: outer, meshSettings: settings } = input;
  if (outer) return { artifactId: outer, field: ["input", "textureReferenceArtifactId"] };
  const inner = settings?.textureReferenceArtifactId;
  return inner ? { artifactId: inner, field: ["input", "meshSettings", "textureReferenceArtifactId"] } : null;
}
