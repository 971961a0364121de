import { type Accessor, type Document, Logger, NodeIO, Primitive } from "@gltf-transform/core";
import {
  EXTMeshGPUInstancing,
  EXTMeshoptCompression,
  EXTTextureWebP,
  type InstancedMesh,
  KHRDracoMeshCompression,
  KHRMaterialsEmissiveStrength,
  KHRMaterialsPBRSpecularGlossiness,
  KHRMaterialsUnlit,
  KHRMeshQuantization,
  KHRTextureTransform,
} from "@gltf-transform/extensions";
import draco from "draco3dgltf";
import { MeshoptDecoder } from "meshoptimizer";
import { composeMatrix, type Matrix, multiplyMatrices } from "../arithmetic";
import { Refused } from "../request";
import type { Gltf } from "./container";

/** Extensions that change the picture and that we draw. */
const READ = [
  EXTMeshGPUInstancing,
  EXTMeshoptCompression,
  EXTTextureWebP,
  KHRDracoMeshCompression,
  KHRMaterialsEmissiveStrength,
  KHRMaterialsPBRSpecularGlossiness,
  KHRMaterialsUnlit,
  KHRMeshQuantization,
  KHRTextureTransform,
];
/** Extensions that the decoder ignores: they change no shape and no base color, except visibility, which `placeNodes` reads. */
const LOOKED_PAST = [
  "KHR_lights_punctual",
  "KHR_materials_anisotropy",
  "KHR_materials_clearcoat",
  "KHR_materials_diffuse_transmission",
  "KHR_materials_dispersion",
  "KHR_materials_ior",
  "KHR_materials_iridescence",
  "KHR_materials_sheen",
  "KHR_materials_specular",
  "KHR_materials_transmission",
  "KHR_materials_variants",
  "KHR_materials_volume",
  "KHR_node_visibility",
  "KHR_xmp_json_ld",
];
const readNames: string[] = READ.map(({ EXTENSION_NAME }) => EXTENSION_NAME);
export const SUPPORTED_EXTENSIONS: ReadonlySet<string> = new Set([...readNames, ...LOOKED_PAST]);

/** Decodes a file whose container was checked before. Throws `Refused` if that fails. */
export async function decode(bytes: Uint8Array, gltf: Gltf): Promise<Document> {
  const used = new Set(gltf.extensionsUsed ?? []);
  const io = new NodeIO().setLogger(new Logger(Logger.Verbosity.SILENT)).registerExtensions(
    // If all extensions were registered, the reader would ask for all decoders.
    READ.filter(({ EXTENSION_NAME }) => used.has(EXTENSION_NAME)),
  );
  if (used.has(KHRDracoMeshCompression.EXTENSION_NAME))
    io.registerDependencies({ "draco3d.decoder": await draco.createDecoderModule() });
  if (used.has(EXTMeshoptCompression.EXTENSION_NAME)) {
    await MeshoptDecoder.ready;
    io.registerDependencies({ "meshopt.decoder": MeshoptDecoder });
  }
  try {
    return await io.readBinary(bytes);
  } catch (cause) {
    throw new Refused(`The file cannot be decoded: ${reasonOf(cause)}`);
  }
}

function reasonOf(cause: unknown): string {
  const said = cause instanceof Error ? cause.message : String(cause);
  return said.replace(/\s+/g, " ").slice(0, 200);
}

/** Converts attribute values to numbers; normalized integers become fractions. */
export function valuesOf(accessor: Accessor): Float32Array {
  const array = accessor.getArray();
  if (!array) throw new Refused("An accessor of the file has no data.");
  if (array instanceof Float32Array) return array;
  const divisor = accessor.getNormalized() ? largestOf(array) : 1;
  const values = new Float32Array(array.length);
  const least = divisor === 1 ? Number.NEGATIVE_INFINITY : -1;
  for (let at = 0; at < array.length; at++) values[at] = Math.max(least, array[at]! / divisor);
  return values;
}

function largestOf(array: object): number {
  if (array instanceof Int8Array) return 127;
  if (array instanceof Uint8Array) return 255;
  if (array instanceof Int16Array) return 32767;
  if (array instanceof Uint16Array) return 65535;
  return 1;
}

/**
 * Lists the corners of a primitive's triangles, three each; null for points and lines. Throws `Refused` for an index out of
 * range.
 */
export function cornersOf(primitive: Primitive, vertexCount: number): Uint32Array | null {
  const mode = primitive.getMode();
  const indices = primitive.getIndices()?.getArray() ?? null;
  const count = indices ? indices.length : vertexCount;
  const at = (place: number) => (indices ? indices[place]! : place);
  const { TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN } = Primitive.Mode;
  let corners: Uint32Array;
  if (mode === TRIANGLES) {
    corners = new Uint32Array(Math.floor(count / 3) * 3);
    for (let place = 0; place < corners.length; place++) corners[place] = at(place);
  } else if (mode === TRIANGLE_STRIP || mode === TRIANGLE_FAN) {
    const triangles = Math.max(0, count - 2);
    corners = new Uint32Array(triangles * 3);
    for (let n = 0; n < triangles; n++) {
      const isOdd = n % 2 === 1;
      corners[n * 3] = at(mode === TRIANGLE_FAN ? n + 1 : n);
      corners[n * 3 + 1] = at(mode === TRIANGLE_FAN ? n + 2 : n + (isOdd ? 2 : 1));
      corners[n * 3 + 2] = at(mode === TRIANGLE_FAN ? 0 : n + (isOdd ? 1 : 2));
    }
  } else return null;
  for (let place = 0; place < corners.length; place++)
    if (corners[place]! >= vertexCount)
      throw new Refused(
        `A triangle uses vertex ${corners[place]} of ${vertexCount}: the file's indices are broken.`,
      );
  return corners;
}

/** World matrix of each instance of a node's mesh. */
export function instancesOf(instanced: InstancedMesh, world: Matrix): Matrix[] {
  const [translations, rotations, scales] = ["TRANSLATION", "ROTATION", "SCALE"].map((semantic) => {
    const accessor = instanced.getAttribute(semantic);
    return accessor ? valuesOf(accessor) : null;
  });
  const size = translations
    ? translations.length / 3
    : rotations
      ? rotations.length / 4
      : (scales?.length ?? 0) / 3;
  return Array.from({ length: size }, (_, n) =>
    multiplyMatrices(
      world,
      composeMatrix(
        translations ? translations.subarray(n * 3, n * 3 + 3) : [0, 0, 0],
        rotations ? rotations.subarray(n * 4, n * 4 + 4) : [0, 0, 0, 1],
        scales ? scales.subarray(n * 3, n * 3 + 3) : [1, 1, 1],
      ),
    ),
  );
}
