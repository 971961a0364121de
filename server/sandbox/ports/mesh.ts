import { turnMesh } from "../mesh";
import { MeshRequest } from "../requests";
import { definePort } from "./define";

export const meshPort = definePort("mesh", MeshRequest, {
  answer: turnMesh,
  empty: () => ({ mesh: { mediaType: "model/gltf-binary", base64: "" }, usage: { meshes: 0 } }),
  answersLater: true,
});
