import type { Document, Node, Primitive } from "@gltf-transform/core";
import type { InstancedMesh } from "@gltf-transform/extensions";
import { IDENTITY, type Matrix, multiplyMatrices, normalMatrix } from "../arithmetic";
import { MAX_TRIANGLES, MAX_VERTICES } from "../limits";
import { Refused } from "../request";
import type { PlacedNodes } from "./nodes";
import { cornersOf, instancesOf, valuesOf } from "./read";

/** One drawing of a primitive: its vertices, its triangles and their position. */
export type ScenePart = {
  primitive: Primitive;
  shape: Shape;
  corners: Uint32Array;
  /** Position of the vertices: one matrix for all, or with a skin a blend of joint matrices for each. */
  matrix: Matrix;
  skin: Skin | null;
};
/** Positions and normals after morph targets are applied. */
type Shape = { count: number; positions: Float32Array; normals: Float32Array | null };
type Skin = { joints: Float32Array[]; weights: Float32Array[]; matrices: Matrix[] };

/** Lists everything that the scene shows, in drawing order. Throws `Refused` if that is too much or broken. */
export function sceneParts(
  document: Document,
  placed: PlacedNodes,
  warn: (message: string) => void,
): ScenePart[] {
  const nodes = document.getRoot().listNodes();
  const known = new Map<Primitive, { shape: Shape; corners: Uint32Array | null }>();
  const parts: ScenePart[] = [];
  let [vertices, triangles] = [0, 0];
  for (const index of placed.drawn) {
    const node = nodes[index];
    const mesh = node?.getMesh();
    if (!node || !mesh) throw new Refused(`The mesh of node ${index} does not exist.`);
    const weights = node.getWeights().length > 0 ? node.getWeights() : mesh.getWeights();
    const world = placed.worlds[index]!;
    const instanced = node.getExtension<InstancedMesh>("EXT_mesh_gpu_instancing");
    const matrices = instanced && !node.getSkin() ? instancesOf(instanced, world) : [world];
    for (const primitive of mesh.listPrimitives()) {
      const isShared = node.getWeights().length === 0;
      const { shape, corners } = (isShared && known.get(primitive)) || decodePrimitive(primitive, weights);
      if (isShared) known.set(primitive, { shape, corners });
      if (!corners) warn("Points and lines are not drawn.");
      if (!corners || corners.length === 0) continue;
      vertices += shape.count * matrices.length;
      triangles += (corners.length / 3) * matrices.length;
      if (vertices > MAX_VERTICES)
        throw new Refused(
          `The scene has ${vertices} vertices or more, and at most ${MAX_VERTICES} are allowed.`,
        );
      if (triangles > MAX_TRIANGLES)
        throw new Refused(
          `The scene has ${triangles} triangles or more, and at most ${MAX_TRIANGLES} are allowed.`,
        );
      const skin = skinOf(node, primitive, { count: shape.count, nodes, placed });
      for (const matrix of matrices) parts.push({ primitive, shape, corners, matrix, skin });
    }
  }
  return parts;
}

/** Reads an attribute's values; null if there is none. Throws `Refused` if their number or size does not fit the vertices. */
export function attributeOf(
  from: { getAttribute(semantic: string): ReturnType<Primitive["getAttribute"]> },
  semantic: string,
  sizes: number[],
  count: number,
): Float32Array | null {
  const accessor = from.getAttribute(semantic);
  if (!accessor) return null;
  if (!sizes.includes(accessor.getElementSize()) || accessor.getCount() !== count)
    throw new Refused(
      `A primitive's ${semantic} has ${accessor.getCount()} values of ${accessor.getElementSize()} numbers, for ${count} vertices.`,
    );
  return valuesOf(accessor);
}

function decodePrimitive(primitive: Primitive, weights: number[]) {
  const count = primitive.getAttribute("POSITION")?.getCount() ?? 0;
  const positions = attributeOf(primitive, "POSITION", [3], count);
  if (!positions || count === 0)
    return { shape: { count: 0, positions: new Float32Array(), normals: null }, corners: new Uint32Array() };
  const normals = attributeOf(primitive, "NORMAL", [3], count);
  const shape = { count, positions, normals };
  const targets = primitive.listTargets();
  if (targets.length > 0 && weights.some((weight) => weight !== 0)) {
    shape.positions = positions.slice();
    shape.normals = normals?.slice() ?? null;
    targets.forEach((target, at) => {
      const weight = weights[at] ?? 0;
      if (weight === 0) return;
      add(shape.positions, attributeOf(target, "POSITION", [3], count), weight);
      if (shape.normals) add(shape.normals, attributeOf(target, "NORMAL", [3], count), weight);
    });
  }
  for (let at = 0; at < shape.positions.length; at++)
    if (!Number.isFinite(shape.positions[at])) throw new Refused("A vertex position is not a number.");
  return { shape, corners: cornersOf(primitive, count) };
}

function add(onto: Float32Array, from: Float32Array | null, weight: number): void {
  if (from) for (let at = 0; at < onto.length; at++) onto[at] = onto[at]! + weight * from[at]!;
}

function skinOf(
  node: Node,
  primitive: Primitive,
  { count, nodes, placed }: { count: number; nodes: Node[]; placed: PlacedNodes },
): Skin | null {
  const skin = node.getSkin();
  if (!skin) return null;
  const [joints, weights]: [Float32Array[], Float32Array[]] = [[], []];
  for (let set = 0; set < 4; set++) {
    const which = attributeOf(primitive, `JOINTS_${set}`, [4], count);
    const much = attributeOf(primitive, `WEIGHTS_${set}`, [4], count);
    if (!which || !much) break;
    joints.push(which);
    weights.push(much);
  }
  if (joints.length === 0) return null;
  const bound = skin.getInverseBindMatrices();
  const inverse = bound ? valuesOf(bound) : null;
  const matrices = skin.listJoints().map((joint, at) => {
    const world = placed.worlds[nodes.indexOf(joint)] ?? IDENTITY;
    const own = inverse?.subarray(at * 16, at * 16 + 16);
    return own?.length === 16 ? multiplyMatrices(world, [...own]) : world;
  });
  for (const which of joints)
    for (const joint of which)
      if (joint >= matrices.length)
        throw new Refused(`A vertex uses joint ${joint} of ${matrices.length}: the file's skin is broken.`);
  return { joints, weights, matrices };
}

/** Writes the `wanted` vertices of a part to their place in the scene. True if the matrix mirrors the part; false with a skin. */
export function placePart(
  { shape, matrix, skin }: ScenePart,
  wanted: Uint32Array,
  { positions, normals, from }: { positions: Float64Array; normals: Float32Array; from: number },
): boolean {
  const plain = normalMatrix(matrix);
  const blend = new Float64Array(16);
  for (let n = 0; n < wanted.length; n++) {
    const vertex = wanted[n]!;
    let [m, { cofactors }]: [Matrix | Float64Array, { cofactors: number[] }] = [matrix, plain];
    if (skin && blendJoints(skin, vertex, blend)) {
      m = blend;
      if (shape.normals) cofactors = normalMatrix(Array.from(blend)).cofactors;
    }
    const at = vertex * 3;
    const [x, y, z] = [shape.positions[at]!, shape.positions[at + 1]!, shape.positions[at + 2]!];
    const to = (from + n) * 3;
    for (let row = 0; row < 3; row++)
      positions[to + row] = m[row]! * x + m[4 + row]! * y + m[8 + row]! * z + m[12 + row]!;
    if (!shape.normals) continue;
    const [nx, ny, nz] = [shape.normals[at]!, shape.normals[at + 1]!, shape.normals[at + 2]!];
    const c = cofactors;
    const tx = c[0]! * nx + c[3]! * ny + c[6]! * nz;
    const ty = c[1]! * nx + c[4]! * ny + c[7]! * nz;
    const tz = c[2]! * nx + c[5]! * ny + c[8]! * nz;
    const length = Math.sqrt(tx * tx + ty * ty + tz * tz);
    if (!(length > 0)) continue; // without a normal, the face's own is used
    normals[to] = tx / length;
    normals[to + 1] = ty / length;
    normals[to + 2] = tz / length;
  }
  return skin === null && plain.isMirrored;
}

/** Blends a vertex's joint matrices into `blend`; false if no joint has weight. */
function blendJoints({ joints, weights, matrices }: Skin, vertex: number, blend: Float64Array): boolean {
  let total = 0;
  blend.fill(0);
  for (let set = 0; set < joints.length; set++)
    for (let k = 0; k < 4; k++) {
      const weight = weights[set]![vertex * 4 + k]!;
      if (!(weight > 0)) continue;
      const joint = matrices[joints[set]![vertex * 4 + k]!]!;
      total += weight;
      for (let at = 0; at < 16; at++) blend[at] = blend[at]! + weight * joint[at]!;
    }
  if (total === 0) return false;
  for (let at = 0; at < 16; at++) blend[at] = blend[at]! / total;
  return true;
}
