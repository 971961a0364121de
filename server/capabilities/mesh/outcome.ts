import type { MeshOutput } from "@/server/contract/meshes";
import type { MeshResult } from "@/server/providers/define";
import { CapabilityFault, type Outcome } from "../define";
import { checkGlb } from "./glb";

/** The mesh a provider made, checked before it is kept. */
export function toMeshOutcome({ mesh }: MeshResult): Outcome<MeshOutput> {
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
