import {
  MeshInput,
  type MeshOutput,
  MOST_MESH_PICTURES,
  meshSettingsOf,
  textureReferenceOf,
} from "@/server/contract/meshes";
import type { ProviderFile } from "@/server/providers/define";
import { defineCapability, durable, type Source } from "./define";
import { MESH, MESH_FEATURES, toMeshOutcome } from "./mesh/outcome";
import { MAX_MESH_PICTURE_BYTES, pictureAt, toPicture } from "./mesh/pictures";
import { acceptsTexture, TEXTURE_CONSTRAINTS } from "./mesh/texture";

type Material = { images: ProviderFile[]; besides: ProviderFile[] };

/**
 * Pictures apart from those the mesh is made from. They are sources even if unused, so that an unknown artifact id is
 * refused.
 */
function besides(input: MeshInput): Source[] {
  const reference = textureReferenceOf(input);
  const { conceptArtifactId: concept } = input;
  return [
    ...(reference ? [pictureAt(reference.artifactId, reference.field)] : []),
    ...(concept ? [pictureAt(concept, ["input", "conceptArtifactId"])] : []),
  ];
}

export default defineCapability<MeshInput, MeshOutput, Material>({
  ...MESH,
  key: "model.generate.3d.v1",
  title: "3D model generation",
  description: "Makes a textured or bare 3D mesh (GLB) from one to four pictures of an object.",
  input: MeshInput,
  inputConstraints: TEXTURE_CONSTRAINTS,
  features: {
    ...MESH_FEATURES,
    inputPictures: { min: 1, max: MOST_MESH_PICTURES, maxBytes: MAX_MESH_PICTURE_BYTES },
  },
  intentExamples: [
    "Turn photos of a toy into a 3D model",
    "Make a GLB mesh from four views of a chair",
    "Generate a game-ready 3D asset out of reference pictures",
  ],
  synonyms: [
    "3d",
    "mesh",
    "model",
    "glb",
    "gltf",
    "geometry",
    "sculpt",
    "asset",
    "object",
    "several photos",
    "reference pictures",
    "multi view",
    "into a mesh",
    "3d model from photos",
    "printable",
    "game ready",
    "low poly",
    "textured",
  ],
  taskTags: ["3d", "mesh", "generation", "glb"],
  readySummary: "A checked GLB mesh from one to four pictures, as a durable job.",
  durable: durable(900, 3600),
  examples: [
    { title: "A bare mesh from one picture", input: { inputArtifactIds: ["art_front"] } },
    {
      title: "A textured mesh from four views",
      input: {
        inputArtifactIds: ["art_front", "art_right", "art_back", "art_left"],
        meshProfile: "hero_hd",
        meshSettings: { shouldTexture: true, texturePrompt: "Weathered bronze" },
      },
    },
  ],
  execute: {
    port: "mesh",
    sources(input) {
      return [
        ...input.inputArtifactIds.map((id, at) => pictureAt(id, ["input", "inputArtifactIds", at])),
        ...besides(input),
      ];
    },
    async materialize(input, files) {
      const pictures = await Promise.all(files.map(toPicture));
      const count = input.inputArtifactIds.length;
      return { images: pictures.slice(0, count), besides: pictures.slice(count) };
    },
    accepts: acceptsTexture,
    call(input, _options, _model, { images, besides }) {
      const { profile, texture } = meshSettingsOf(input);
      // The concept is used only if there is neither a texture reference nor a texture prompt.
      const picture = textureReferenceOf(input) || !texture?.prompt ? besides[0] : undefined;
      return { images, profile, texture: texture && { ...texture, ...(picture ? { image: picture } : {}) } };
    },
    result: (result) => toMeshOutcome(result),
    bounds: () => ({ meshes: 1 }),
  },
});
