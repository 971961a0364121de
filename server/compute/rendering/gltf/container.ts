import { isObject } from "@/server/platform/text/json";
import {
  MAX_DECODED_BYTES,
  MAX_ENTRIES,
  MAX_FILE_BYTES,
  MAX_IMAGE_BYTES,
  MAX_JSON_BYTES,
  MAX_SCENE_NODES,
  MAX_VERTICES,
} from "../limits";
import { Refused } from "../request";

/** The parts of a glTF document that are checked before anything is decoded. */
export type Gltf = {
  scene?: number;
  scenes?: { nodes?: number[] }[];
  nodes?: GltfNode[];
  meshes?: { primitives: { attributes: Record<string, number>; indices?: number }[] }[];
  accessors?: {
    count: number;
    componentType: number;
    type: string;
    bufferView?: number;
    byteOffset?: number;
  }[];
  bufferViews?: {
    buffer: number;
    byteOffset?: number;
    byteLength: number;
    byteStride?: number;
    extensions?: Record<string, { count?: number; byteStride?: number }>;
  }[];
  buffers?: { byteLength: number; uri?: unknown; extensions?: Record<string, unknown> }[];
  images?: { uri?: unknown; bufferView?: number }[];
  extensionsUsed?: string[];
  extensionsRequired?: string[];
};
export type GltfNode = {
  children?: number[];
  mesh?: number;
  matrix?: number[];
  translation?: number[];
  rotation?: number[];
  scale?: number[];
  extensions?: Record<string, Record<string, unknown>>;
};

const GLB = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BIN_CHUNK = 0x004e4942;
const LISTS = [
  "scenes",
  "nodes",
  "meshes",
  "accessors",
  "bufferViews",
  "buffers",
  "images",
  "textures",
  "samplers",
  "materials",
  "skins",
  "cameras",
  "animations",
] as const;
const MESHOPT = "EXT_meshopt_compression";

/**
 * Parses the document of a GLB file and checks its limits: the file is complete and self-contained, and no list exceeds its
 * maximum. Decodes no data. Throws `Refused`.
 */
export function openContainer(bytes: Uint8Array, supported: ReadonlySet<string>): Gltf {
  if (bytes.byteLength > MAX_FILE_BYTES)
    throw new Refused(
      `The file has ${bytes.byteLength} bytes, and at most ${MAX_FILE_BYTES} (64 MiB) are allowed.`,
    );
  const { json, binaryBytes } = chunksOf(bytes);
  const document = parse(json);
  for (const name of LISTS) checkList(document[name], name, name === "nodes" ? MAX_SCENE_NODES : MAX_ENTRIES);
  const gltf = document as Gltf; // every list holds objects, whose fields are checked where they are read
  checkExtensions(gltf, supported);
  checkBuffers(gltf, binaryBytes);
  checkAccessors(gltf);
  checkImages(gltf);
  return gltf;
}

function chunksOf(bytes: Uint8Array): { json: Uint8Array; binaryBytes: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 20 || view.getUint32(0, true) !== GLB)
    throw new Refused("The file is not a GLB file: it does not begin with a glTF header.");
  const version = view.getUint32(4, true);
  if (version !== 2)
    throw new Refused(`The file is GLB version ${version}, and only version 2 is supported.`);
  const length = view.getUint32(8, true);
  if (length > bytes.byteLength)
    throw new Refused(
      `The file is cut off: its header declares ${length} bytes, and it has ${bytes.byteLength}.`,
    );
  const jsonBytes = view.getUint32(12, true);
  if (view.getUint32(16, true) !== JSON_CHUNK) throw new Refused("The file's first part is not JSON.");
  if (jsonBytes > MAX_JSON_BYTES)
    throw new Refused(
      `The file's JSON has ${jsonBytes} bytes, and at most ${MAX_JSON_BYTES} (4 MiB) are allowed.`,
    );
  if (20 + jsonBytes > length) throw new Refused("The file is cut off inside its JSON.");
  const json = bytes.subarray(20, 20 + jsonBytes);
  const next = 20 + jsonBytes;
  if (next + 8 > length) return { json, binaryBytes: 0 };
  const binaryBytes = view.getUint32(next, true);
  if (view.getUint32(next + 4, true) !== BIN_CHUNK) return { json, binaryBytes: 0 };
  if (next + 8 + binaryBytes > length) throw new Refused("The file is cut off inside its binary part.");
  return { json, binaryBytes };
}

function parse(json: Uint8Array): Record<string, unknown> {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch {
    throw new Refused("The file's JSON cannot be parsed.");
  }
  if (!isObject(document) || !isObject(document["asset"]))
    throw new Refused("The file's JSON is not a glTF document.");
  const version = document["asset"]["version"];
  if (typeof version !== "string" || !version.startsWith("2."))
    throw new Refused("The file is not glTF 2.0.");
  return document;
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function checkList(list: unknown, name: string, most: number): void {
  if (list === undefined) return;
  if (!Array.isArray(list) || !list.every(isObject)) throw new Refused(`"${name}" is not a list of objects.`);
  if (list.length > most)
    throw new Refused(`The file has ${list.length} ${name}, and at most ${most} are allowed.`);
}

function checkExtensions(
  { extensionsRequired = [], extensionsUsed = [] }: Gltf,
  supported: ReadonlySet<string>,
) {
  for (const list of [extensionsRequired, extensionsUsed])
    if (!Array.isArray(list) || !list.every((name) => typeof name === "string"))
      throw new Refused("The file's list of extensions is not a list of names.");
  const unknown = extensionsRequired.filter((name) => !supported.has(name));
  if (unknown.length > 0)
    throw new Refused(
      `The file requires ${unknown.join(", ")}, which this renderer does not support. Export the file without it, for example with PNG, JPEG or WebP textures.`,
    );
}

function checkBuffers({ buffers = [], bufferViews = [] }: Gltf, binaryBytes: number): void {
  buffers.forEach((buffer, index) => {
    refuseUri(buffer.uri, "buffer", index);
    if (!isCount(buffer.byteLength)) throw new Refused(`Buffer ${index} has no length.`);
    const isFallback = buffer.extensions?.[MESHOPT] !== undefined;
    if (isFallback) return;
    if (index > 0) throw new Refused(`Buffer ${index} is not in the file.`);
    if (buffer.byteLength > binaryBytes)
      throw new Refused(
        `The file is cut off: its buffer should have ${buffer.byteLength} bytes, and it has ${binaryBytes}.`,
      );
  });
  let unpacked = 0;
  bufferViews.forEach((view, index) => {
    const buffer = buffers[view.buffer];
    const end = (view.byteOffset ?? 0) + view.byteLength;
    if (!buffer || !isCount(view.byteOffset ?? 0) || !isCount(view.byteLength) || end > buffer.byteLength)
      throw new Refused(`Buffer view ${index} reaches outside its buffer.`);
    const packed = view.extensions?.[MESHOPT];
    if (!packed) return;
    const size = (packed.count ?? Number.NaN) * (packed.byteStride ?? Number.NaN);
    if (!isCount(size)) throw new Refused(`Buffer view ${index} does not declare its compression.`);
    unpacked += size;
  });
  if (unpacked > MAX_DECODED_BYTES)
    throw new Refused(`The file unpacks to ${unpacked} bytes, and at most ${MAX_DECODED_BYTES} are allowed.`);
}

function refuseUri(uri: unknown, what: string, index: number): void {
  if (uri === undefined) return;
  const isData = typeof uri === "string" && uri.startsWith("data:");
  throw new Refused(
    isData
      ? `The ${what} ${index} is a data URI. Store the data in the GLB file's binary part.`
      : `The ${what} ${index} is in another file. Include it in the GLB file.`,
  );
}

const COMPONENTS: Record<string, number> = {
  SCALAR: 1,
  VEC2: 2,
  VEC3: 3,
  VEC4: 4,
  MAT2: 4,
  MAT3: 9,
  MAT4: 16,
};
const COMPONENT_BYTES: Record<number, number> = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 };

function checkAccessors({ accessors = [], bufferViews = [], meshes = [] }: Gltf): void {
  let decoded = 0;
  accessors.forEach((accessor, index) => {
    const { count, byteOffset = 0 } = accessor;
    const size = (COMPONENTS[accessor.type] ?? 0) * (COMPONENT_BYTES[accessor.componentType] ?? 0);
    if (!isCount(count) || !isCount(byteOffset) || size === 0)
      throw new Refused(`Accessor ${index} is not valid in glTF 2.0.`);
    decoded += count * size;
    if (accessor.bufferView === undefined) return;
    const view = bufferViews[accessor.bufferView];
    const end = byteOffset + (view?.byteStride ?? size) * Math.max(0, count - 1) + (count > 0 ? size : 0);
    if (!view || end > view.byteLength)
      throw new Refused(`Accessor ${index} reaches outside its buffer view.`);
  });
  if (decoded > MAX_DECODED_BYTES)
    throw new Refused(
      `The file's data needs ${decoded} bytes, and at most ${MAX_DECODED_BYTES} are allowed.`,
    );
  const positions = new Set<number>();
  meshes.forEach(({ primitives }, index) => {
    checkList(primitives, `meshes[${index}].primitives`, MAX_ENTRIES);
    for (const { attributes } of primitives ?? []) {
      if (!isObject(attributes)) throw new Refused(`A primitive of mesh ${index} has no attributes.`);
      const position = attributes["POSITION"];
      if (typeof position === "number") positions.add(position);
    }
  });
  const vertices = [...positions].reduce((sum, each) => sum + (accessors[each]?.count ?? 0), 0);
  if (vertices > MAX_VERTICES)
    throw new Refused(`The file has ${vertices} vertices, and at most ${MAX_VERTICES} are allowed.`);
}

function checkImages({ images = [], bufferViews = [] }: Gltf): void {
  let total = 0;
  images.forEach(({ uri, bufferView }, index) => {
    refuseUri(uri, "image", index);
    total += bufferViews[bufferView ?? -1]?.byteLength ?? 0;
  });
  if (total > MAX_IMAGE_BYTES)
    throw new Refused(
      `The file's images have ${total} bytes in total, and at most ${MAX_IMAGE_BYTES} are allowed.`,
    );
}
