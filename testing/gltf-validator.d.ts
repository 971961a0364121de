/** The parts of the Khronos validator that the tests use; the package has no types. */
declare module "gltf-validator" {
  export function validateBytes(
    bytes: Uint8Array,
    options?: { format?: "glb" | "gltf"; maxIssues?: number },
  ): Promise<{
    issues: { messages: { code: string; message: string; severity: 0 | 1 | 2 | 3; pointer?: string }[] };
    info: { totalVertexCount: number; totalTriangleCount: number };
  }>;
}
