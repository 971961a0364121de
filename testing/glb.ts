import { NodeIO } from "@gltf-transform/core";
import { validateBytes } from "gltf-validator";

/** The Khronos validator's errors and warnings about a GLB, with its figures and the size of its first primitive. */
export async function validateGlb(bytes: Uint8Array) {
  const report = await validateBytes(new Uint8Array(bytes), { format: "glb", maxIssues: 100 });
  const root = (await new NodeIO().readBinary(new Uint8Array(bytes))).getRoot();
  const positions = root.listMeshes()[0]?.listPrimitives()[0]?.getAttribute("POSITION");
  const [least, most] = [positions?.getMin([]) ?? [], positions?.getMax([]) ?? []];
  return {
    // 0 is an error, 1 a warning.
    problems: report.issues.messages.filter(({ severity }) => severity <= 1),
    vertices: report.info.totalVertexCount,
    triangles: report.info.totalTriangleCount,
    size: most.map((each, axis) => each - (least[axis] ?? 0)),
  };
}
