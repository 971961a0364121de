import { turnMesh } from "../mesh";
import { MeshRequest } from "../requests";
import { definePort } from "./define";

export const mesh = definePort(
  "mesh",
  MeshRequest,
  turnMesh,
  () => ({ mesh: { mediaType: "model/gltf-binary", base64: "" }, usage: { meshes: 0 } }),
  { answersLater: true },
);
