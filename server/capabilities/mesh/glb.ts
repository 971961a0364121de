import { z } from "zod";
import { CapabilityFault } from "../define";

/** Limits of a stored mesh: its file, its JSON chunk and its vertices. */
export const MOST_GLB_BYTES = 64 * 1024 * 1024;
const MOST_JSON_BYTES = 4 * 1024 * 1024;
const MOST_VERTICES = 5_000_000;

const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BIN_CHUNK = 0x004e4942;
const HEADER_BYTES = 12;
const TRIANGLES = 4;

const Count = z.int().min(0);
const Named = z.looseObject({ uri: z.string().optional() });
const Gltf = z.looseObject({
  asset: z.looseObject({ version: z.string().regex(/^2\.\d+$/) }),
  buffers: z.array(Named.extend({ byteLength: Count })).default([]),
  bufferViews: z
    .array(z.looseObject({ buffer: Count, byteOffset: Count.default(0), byteLength: Count }))
    .default([]),
  images: z.array(Named).default([]),
  accessors: z.array(z.looseObject({ count: Count })).default([]),
  meshes: z
    .array(
      z.looseObject({
        primitives: z
          .array(
            z.looseObject({
              attributes: z.record(z.string(), Count),
              indices: Count.optional(),
              mode: Count.default(TRIANGLES),
            }),
          )
          .min(1),
      }),
    )
    .min(1),
});

export type GlbFigures = { meshes: number; vertices: number; triangles: number; textures: number };

const refuse = (why: string): never => {
  throw new CapabilityFault("PROVIDER_ERROR", `The provider's mesh is not a usable GLB file: ${why}.`);
};

/**
 * Checks a GLB before it is stored: header, chunks, JSON, and that all its data is inside the file. Throws
 * `CapabilityFault` with the reason if it is broken, too large, or refers to other files. It decodes no geometry.
 */
export function checkGlb(bytes: Uint8Array): GlbFigures {
  if (bytes.byteLength > MOST_GLB_BYTES)
    refuse(`it has ${bytes.byteLength} bytes, and at most ${MOST_GLB_BYTES} are allowed`);
  const { json, binary } = chunksOf(bytes);
  const parsed = Gltf.safeParse(parseJson(json));
  const gltf = parsed.data ?? refuse("its JSON is not that of a glTF 2 with a mesh");

  for (const each of [...gltf.buffers, ...gltf.images])
    if (each.uri !== undefined) refuse("it refers to data outside the file");
  if (gltf.buffers.length > 1) refuse("it has more than one buffer");
  const length = gltf.buffers[0]?.byteLength ?? 0;
  // The chunk may be padded to a multiple of four.
  if (length > binary || binary - length > 3) refuse("its buffer has a different length than it declares");
  for (const view of gltf.bufferViews)
    if (view.buffer >= gltf.buffers.length || view.byteOffset + view.byteLength > length)
      refuse("a buffer view lies outside its buffer");

  const countOf = (accessor: number) =>
    gltf.accessors[accessor]?.count ?? refuse("a primitive names an accessor that does not exist");
  let [vertices, triangles] = [0, 0];
  for (const { attributes, indices, mode } of gltf.meshes.flatMap(({ primitives }) => primitives)) {
    const points = attributes.POSITION === undefined ? 0 : countOf(attributes.POSITION);
    vertices += points;
    const corners = indices === undefined ? points : countOf(indices);
    if (mode === TRIANGLES) triangles += Math.floor(corners / 3);
    else if (mode > TRIANGLES) triangles += Math.max(0, corners - 2);
  }
  if (vertices === 0) refuse("it has no vertices");
  if (vertices > MOST_VERTICES) refuse(`it has more than ${MOST_VERTICES} vertices`);
  return { meshes: gltf.meshes.length, vertices, triangles, textures: gltf.images.length };
}

/** The JSON chunk, and the length of the binary chunk. */
function chunksOf(bytes: Uint8Array): { json: Uint8Array; binary: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) refuse("it has no GLB header");
  if (view.getUint32(4, true) !== 2) refuse("it is not of version 2");
  if (view.getUint32(8, true) !== bytes.byteLength)
    refuse("it has a different length than its header declares");
  let json: Uint8Array | undefined;
  let binary = 0;
  for (let at = HEADER_BYTES, index = 0; at < bytes.byteLength; index++) {
    if (at + 8 > bytes.byteLength) refuse("a chunk is cut off");
    const length = view.getUint32(at, true);
    const type = view.getUint32(at + 4, true);
    const from = at + 8;
    at = from + length;
    if (at > bytes.byteLength) refuse("a chunk is cut off");
    if (length % 4 !== 0) refuse("a chunk is not aligned");
    if (index === 0) {
      if (type !== JSON_CHUNK) refuse("its first chunk is not JSON");
      if (length > MOST_JSON_BYTES) refuse(`its JSON has more than ${MOST_JSON_BYTES} bytes`);
      json = bytes.subarray(from, at);
    } else if (index === 1 && type === BIN_CHUNK) binary = length;
  }
  return { json: json ?? refuse("it has no JSON"), binary };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined; // the schema then refuses it
  }
}
