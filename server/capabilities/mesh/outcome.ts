import { MESH_PROFILES, MeshOutput } from "@/server/contract/meshes";
import type { MeshResult } from "@/server/providers/define";
import { BY_MODEL, type CapabilityDefinition, CapabilityFault, type RunOutcome } from "../define";
import { checkGlb } from "./glb";
import { PICTURE_TYPES } from "./pictures";

/** Facts that all mesh capabilities share. */
export const MESH = {
  modality: "mesh",
  family: "geometry",
  category: "generation",
  modes: ["job_async"],
  output: MeshOutput,
  inputMediaTypes: [...PICTURE_TYPES],
  outputKind: "artifact",
  outputMediaType: "model/gltf-binary",
  trialEligible: true,
} satisfies Partial<CapabilityDefinition<never, MeshOutput>>;
export const MESH_FEATURES = {
  syncInvoke: { supported: false },
  meshProfiles: [...MESH_PROFILES],
  textures: { supported: true, prompt: true, referencePicture: true },
  formats: ["glb"],
  ...BY_MODEL,
};

/** A provider's mesh as an outcome. Throws CapabilityFault if there is no mesh or its file is not usable. */
export function toMeshOutcome({ mesh }: MeshResult): RunOutcome<MeshOutput> {
  if (mesh.bytes.byteLength === 0)
    throw new CapabilityFault("PROVIDER_EMPTY_OUTPUT", "The provider's answer contains no mesh.");
  const { meshes, vertices, triangles, textures } = checkGlb(mesh.bytes);
  const mediaType = "model/gltf-binary";
  const filename = "mesh.glb";
  const textured = textures > 0;
  return {
    typedOutput: {
      mesh: {
        mediaType,
        filename,
        byteLength: mesh.bytes.byteLength,
        meshes,
        vertices,
        triangles,
        textured,
      },
    },
    files: [{ bytes: mesh.bytes, mediaType, kind: "mesh", filename }],
  };
}
