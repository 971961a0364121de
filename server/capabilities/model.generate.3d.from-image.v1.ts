import {
  MeshFromImageInput,
  type MeshOutput,
  meshSettingsOf,
  TURNAROUND_MODES,
  textureReferenceOf,
  VIEWS,
} from "@/server/contract/meshes";
import { CapabilityFault, defineCapability, durable, inCharacters } from "./define";
import { MESH, MESH_FEATURES, toMeshOutcome } from "./mesh/outcome";
import { MAX_MESH_PICTURE_BYTES, pictureAt, toPicture } from "./mesh/pictures";
import { acceptsTexture, TEXTURE_CONSTRAINTS } from "./mesh/texture";
import {
  SHEET_KIND,
  type TurnaroundMaterial,
  turnaroundStages,
  usableViews,
  VIEW_KIND,
} from "./mesh/turnaround";

export default defineCapability<MeshFromImageInput, MeshOutput, TurnaroundMaterial>({
  ...MESH,
  key: "model.generate.3d.from-image.v1",
  title: "3D model from an image",
  description:
    "Draws an object from one picture from its four sides, lets a person review the views if requested, and makes a 3D mesh (GLB) of them.",
  input: MeshFromImageInput,
  inputConstraints: {
    ...TEXTURE_CONSTRAINTS,
    resolvedPrompt: inCharacters(32_000),
  },
  features: {
    ...MESH_FEATURES,
    turnaround: { views: [...VIEWS], modes: [...TURNAROUND_MODES], review: "requireTurnaroundApproval" },
    artifactKinds: [SHEET_KIND, VIEW_KIND, "mesh"],
    inputPictures: { min: 1, max: 1, maxBytes: MAX_MESH_PICTURE_BYTES },
  },
  intentExamples: [
    "Make a 3D model from this single concept drawing",
    "Turn a character picture into a turnaround sheet and a mesh",
    "Draw my toy from all sides, let me check the views, then build the GLB",
  ],
  synonyms: [
    "turnaround",
    "3d",
    "mesh",
    "model",
    "glb",
    "single image",
    "image to 3d",
    "views",
    "concept art",
    "one photo",
    "one image",
    "single photo",
    "into a 3d model",
    "from a single picture",
  ],
  taskTags: ["3d", "mesh", "turnaround", "generation", "glb"],
  readySummary:
    "Four drawn views, an optional review by a person, and a checked GLB mesh, as one durable job.",
  durable: durable(1_200, 3_600),
  interaction: {
    typicallyRequired: false,
    reason: "With requireTurnaroundApproval, a person reviews the drawn views before the mesh is made.",
  },
  examples: [
    { title: "A mesh from one picture", input: { baseArtifactId: "art_base" } },
    {
      title: "With a person's review of the views, redrawing bad ones",
      input: {
        baseArtifactId: "art_base",
        turnaroundMode: "panelRepair",
        requireTurnaroundApproval: true,
        resolvedPrompt: "A squat clockwork robot of brass",
        meshSettings: { shouldTexture: true },
      },
    },
  ],
  execute: {
    port: "mesh",
    accepts: acceptsTexture,
    sources(input) {
      const reference = textureReferenceOf(input);
      return [
        pictureAt(input.baseArtifactId, ["input", "baseArtifactId"]),
        ...(reference ? [pictureAt(reference.artifactId, reference.field)] : []),
      ];
    },
    async materialize(_input, files, _options, kept = []) {
      const [base, texture] = await Promise.all(files.map(toPicture));
      if (!base) throw new Error("the base picture was found and no longer exists");
      return { base, texture: texture ?? null, views: usableViews(kept), isDrawn: kept.length > 0 };
    },
    stages: turnaroundStages,
    review: ({ requireTurnaroundApproval }) =>
      requireTurnaroundApproval ? { reason: "turnaround_review", step: "turnaround" } : null,
    call(input, _options, _model, { views, texture: picture, isDrawn }) {
      if (isDrawn && views.length === 0)
        throw new CapabilityFault(
          "PROVIDER_EMPTY_OUTPUT",
          "None of the drawn views can be used. Try another picture or prompt.",
        );
      const { profile, texture } = meshSettingsOf(input);
      return {
        images: views.map((each) => each.picture),
        profile,
        texture: texture && { ...texture, ...(picture ? { image: picture } : {}) },
      };
    },
    result: (result) => toMeshOutcome(result),
    bounds: () => ({ meshes: 1 }),
  },
});
