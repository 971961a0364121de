import type { Accessor, Primitive } from "@gltf-transform/core";
import { mapThree } from "../../three";
import { Refused, type Style, type Vector } from "../request";
import type { Scene, Surface } from "../scene";
import { openContainer } from "./container";
import { type ReadMaterial, readMaterial, textureShelf } from "./materials";
import { placeNodes } from "./nodes";
import { makeNormals, type PartSpan } from "./normals";
import { attributeOf, placePart, type ScenePart, sceneParts } from "./parts";
import { decode, SUPPORTED_EXTENSIONS } from "./read";

/** Reads a GLB file into one list of triangles with their surfaces. Throws `Refused` if the file cannot be drawn. */
export async function readScene(bytes: Uint8Array, style: Style): Promise<Scene> {
  const warnings = new Set<string>();
  const warn = (message: string) => void warnings.add(message);
  const gltf = openContainer(bytes, SUPPORTED_EXTENSIONS);
  const placed = placeNodes(gltf);
  if (placed.scenes > 1) warn(`The file has ${placed.scenes} scenes. Only its default scene is drawn.`);
  for (const name of gltf.extensionsUsed ?? [])
    if (!SUPPORTED_EXTENSIONS.has(name)) warn(`The extension ${name} is not drawn.`);
  const document = await decode(bytes, gltf);
  const root = document.getRoot();
  if (root.listAnimations().length > 0)
    warn("Animations are not played. The model is drawn in its rest pose.");
  const parts = sceneParts(document, placed, warn);
  if (parts.length === 0) throw new Refused("The file's scene shows no triangles.");

  const shelf = textureShelf(root.listTextures(), warn);
  const materials = new Map<unknown, ReadMaterial>();
  for (const { primitive } of parts) {
    const material = primitive.getMaterial();
    if (!materials.has(material)) materials.set(material, await readMaterial(material, style, shelf, warn));
  }
  return assemble(parts, materials, {
    meshes: new Set(placed.drawn.map((index) => gltf.nodes?.[index]?.mesh)).size,
    materials: new Set(parts.map(({ primitive }) => primitive.getMaterial())).size,
    textures: root.listTextures().length,
    extensions: [...new Set(gltf.extensionsUsed ?? [])].sort(),
    warnings,
    isColored: style === "material" || style === "flat",
  });
}

type About = {
  meshes: number;
  materials: number;
  textures: number;
  extensions: string[];
  warnings: Set<string>;
  isColored: boolean;
};

/** The scene's arrays, filled part by part. */
type Buffers = {
  placedAt: Float64Array;
  normals: Float32Array;
  uvs: Float32Array | null;
  colors: Float32Array | null;
  indices: Uint32Array;
  surfaceOf: Uint16Array;
};

/** A part, its material, the vertices that its triangles use, and its span in the scene. */
type Placing = { part: ScenePart; material: ReadMaterial; used: Uint32Array; span: PartSpan };

function assemble(parts: ScenePart[], materials: Map<unknown, ReadMaterial>, about: About): Scene {
  const placings = layOut(parts, materials);
  const buffers = emptyBuffers(placings, about.isColored);
  const surfaces = surfaceList([...materials.values()]);
  const smoothed: PartSpan[] = [];
  for (const placing of placings) {
    const { part, material, span } = placing;
    const { isMirrored, hasColors } = copyVertices(placing, buffers, about.warnings);
    const hasMadeNormals = part.shape.normals === null;
    if (hasMadeNormals) smoothed.push(span);
    copyTriangles(placing, buffers, isMirrored, surfaces.indexOf(material, { hasColors, hasMadeNormals }));
  }

  const { placedAt, normals, uvs, colors, indices, surfaceOf } = buffers;
  const { positions, center, radius, boundingBox } = centered(placedAt);
  for (const span of smoothed) makeNormals({ positions, normals, indices }, span);
  if (smoothed.length > 0)
    about.warnings.add("Some normals are missing. Smooth ones were computed, with sharp edges.");
  const triangleCount = surfaceOf.length;
  const flat = countFlat(positions, indices);
  if (flat > 0) about.warnings.add(`${flat} of ${triangleCount} triangles have no area.`);
  const vertexCount = positions.length / 3;
  return {
    vertexCount,
    triangleCount,
    positions,
    normals,
    uvs,
    colors,
    indices,
    surfaceOf,
    surfaces: surfaces.list,
    center,
    radius,
    mesh: {
      triangles: triangleCount,
      vertices: vertexCount,
      meshes: about.meshes,
      primitives: parts.length,
      materials: about.materials,
      textures: about.textures,
      boundingBox,
      extensions: about.extensions,
      warnings: [...about.warnings],
    },
  };
}

/** Lays out the parts one after another in the scene. */
function layOut(parts: ScenePart[], materials: Map<unknown, ReadMaterial>): Placing[] {
  let [vertex, triangle] = [0, 0];
  return parts.map((part) => {
    const used = usedOf(part);
    const from = triangle;
    const span = {
      from: vertex,
      count: used.length,
      triangles: { from, to: from + part.corners.length / 3 },
    };
    vertex += span.count;
    triangle = span.triangles.to;
    return { part, material: materials.get(part.primitive.getMaterial())!, used, span }; // readScene read all of them
  });
}

function emptyBuffers(placings: Placing[], isColored: boolean): Buffers {
  const vertices = placings.reduce((sum, { span }) => sum + span.count, 0);
  const triangles = placings.reduce((sum, { part }) => sum + part.corners.length / 3, 0);
  const hasUvs = placings.some(({ material }) => material.coordinates);
  const hasColors = isColored && placings.some(({ part }) => part.primitive.getAttribute("COLOR_0"));
  return {
    placedAt: new Float64Array(vertices * 3),
    normals: new Float32Array(vertices * 3),
    uvs: hasUvs ? new Float32Array(vertices * 2) : null,
    colors: hasColors ? new Float32Array(vertices * 4).fill(1) : null,
    indices: new Uint32Array(triangles * 3),
    surfaceOf: new Uint16Array(triangles),
  };
}

/** Collects the scene's surfaces: one for each combination of material, vertex colors and computed normals. */
function surfaceList(order: ReadMaterial[]) {
  const list: Surface[] = [];
  const known = new Map<string, number>();
  function indexOf(material: ReadMaterial, has: Pick<Surface, "hasColors" | "hasMadeNormals">): number {
    const key = `${order.indexOf(material)} ${has.hasColors} ${has.hasMadeNormals}`;
    const index = known.get(key) ?? list.push({ ...material.surface, ...has }) - 1;
    if (index > 65_535) throw new Refused("The file has too many materials to be drawn.");
    known.set(key, index);
    return index;
  }
  return { list, indexOf };
}

function copyVertices({ part, material, used, span }: Placing, buffers: Buffers, warnings: Set<string>) {
  const { placedAt: positions, normals, uvs, colors } = buffers;
  const { primitive, shape } = part;
  const isMirrored = placePart(part, used, { positions, normals, from: span.from });
  const hasColors =
    colors !== null && copyColors(primitive, shape.count, used, colors.subarray(span.from * 4));
  if (uvs && material.coordinates)
    copyUvs(primitive, {
      coordinates: material.coordinates,
      count: shape.count,
      used,
      to: uvs.subarray(span.from * 2),
      warnings,
    });
  return { isMirrored, hasColors };
}

function copyTriangles(
  { part: { corners, shape }, used, span }: Placing,
  { indices, surfaceOf }: Buffers,
  isMirrored: boolean,
  surface: number,
): void {
  const renamed = new Uint32Array(shape.count);
  used.forEach((each, at) => {
    renamed[each] = span.from + at;
  });
  const [second, third] = isMirrored ? [2, 1] : [1, 2];
  let { from: triangle } = span.triangles;
  for (let corner = 0; corner < corners.length; corner += 3) {
    indices[triangle * 3] = renamed[corners[corner]!]!;
    indices[triangle * 3 + 1] = renamed[corners[corner + second]!]!;
    indices[triangle * 3 + 2] = renamed[corners[corner + third]!]!;
    surfaceOf[triangle++] = surface;
  }
}

/** Moves the positions to the middle of the scene and scales them: half the diagonal of their box becomes 1. */
function centered(placedAt: Float64Array) {
  const { min, max } = boundsOf(placedAt);
  const center = mapThree(min, (each, axis) => (each + max[axis]) / 2);
  const half = mapThree(max, (each, axis) => (each - min[axis]) / 2);
  const radius = Math.sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
  if (!(radius > 0) || !Number.isFinite(radius))
    throw new Refused(
      radius === 0
        ? "All vertices of the scene are at one point, so there is nothing to see."
        : "The scene's coordinates are too large.",
    );
  const positions = new Float32Array(placedAt.length);
  for (let at = 0; at < positions.length; at++) positions[at] = (placedAt[at]! - center[at % 3]!) / radius;
  return { positions, center, radius, boundingBox: { min, max } };
}

/** The vertices that triangles use, in order. Others would only enlarge the frame. */
function usedOf({ corners, shape }: ScenePart): Uint32Array {
  const isUsed = new Uint8Array(shape.count);
  for (const corner of corners) isUsed[corner] = 1;
  let count = 0;
  for (const each of isUsed) count += each;
  const used = new Uint32Array(count);
  let to = 0;
  for (let vertex = 0; vertex < isUsed.length; vertex++) if (isUsed[vertex] === 1) used[to++] = vertex;
  return used;
}

function copyColors(primitive: Primitive, count: number, used: Uint32Array, to: Float32Array): boolean {
  const accessor: Accessor | null = primitive.getAttribute("COLOR_0");
  const values = attributeOf(primitive, "COLOR_0", [3, 4], count);
  if (!accessor || !values) return false;
  const size = accessor.getElementSize();
  for (let n = 0; n < used.length; n++)
    for (let k = 0; k < size; k++) {
      const value = values[used[n]! * size + k]!;
      to[n * 4 + k] = value > 0 ? Math.min(value, 1) : 0;
    }
  return true;
}

function copyUvs(
  primitive: Primitive,
  {
    coordinates: {
      set,
      move: [a, b, c, d, e, f],
    },
    count,
    used,
    to,
    warnings,
  }: {
    coordinates: NonNullable<ReadMaterial["coordinates"]>;
    count: number;
    used: Uint32Array;
    to: Float32Array;
    warnings: Set<string>;
  },
): void {
  const values = attributeOf(primitive, `TEXCOORD_${set}`, [2], count);
  if (!values) {
    warnings.add("A textured primitive has no texture coordinates.");
    return;
  }
  for (let n = 0; n < used.length; n++) {
    const at = used[n]! * 2;
    const [u, v] = [finite(values[at]), finite(values[at + 1])];
    to[n * 2] = a * u + b * v + c;
    to[n * 2 + 1] = d * u + e * v + f;
  }
}

const finite = (value = 0) => (Number.isFinite(value) ? value : 0);

function boundsOf(positions: Float64Array): { min: Vector; max: Vector } {
  const min: Vector = [Infinity, Infinity, Infinity];
  const max: Vector = [-Infinity, -Infinity, -Infinity];
  for (let at = 0; at < positions.length; at++) {
    const axis = (at % 3) as 0 | 1 | 2;
    const value = positions[at]!;
    if (!Number.isFinite(value)) throw new Refused("The scene's coordinates are too large.");
    if (value < min[axis]) min[axis] = value;
    if (value > max[axis]) max[axis] = value;
  }
  return { min, max };
}

function countFlat(positions: Float32Array, indices: Uint32Array): number {
  let count = 0;
  const p = (at: number) => positions[at]!;
  for (let corner = 0; corner < indices.length; corner += 3) {
    const [a, b, c] = [indices[corner]! * 3, indices[corner + 1]! * 3, indices[corner + 2]! * 3];
    const [ux, uy, uz] = [p(b) - p(a), p(b + 1) - p(a + 1), p(b + 2) - p(a + 2)];
    const [vx, vy, vz] = [p(c) - p(a), p(c + 1) - p(a + 1), p(c + 2) - p(a + 2)];
    if (uy * vz === uz * vy && uz * vx === ux * vz && ux * vy === uy * vx) count++;
  }
  return count;
}
