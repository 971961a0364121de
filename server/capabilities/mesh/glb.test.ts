import { expect, test } from "vitest";
import { CapabilityFault } from "../define";
import { checkGlb } from "./glb";

const GLTF = {
  asset: { version: "2.0" },
  buffers: [{ byteLength: 40 }],
  bufferViews: [
    { buffer: 0, byteLength: 36 },
    { buffer: 0, byteOffset: 36, byteLength: 3 },
  ],
  accessors: [{ count: 3 }, { count: 6 }],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 }] }],
};

type Made = { json?: unknown; binary?: number | null; version?: number; length?: number };

/** A GLB with these parts, valid unless the options say otherwise. */
function glb({ json = GLTF, binary = 40, version = 2, length }: Made = {}): Buffer {
  const text = Buffer.isBuffer(json) ? json : Buffer.from(JSON.stringify(json));
  const chunk = (type: string, body: Buffer, fill: number) => {
    const padded = Buffer.concat([body, Buffer.alloc((4 - (body.length % 4)) % 4, fill)]);
    const head = Buffer.alloc(8);
    head.writeUInt32LE(padded.length, 0);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, padded]);
  };
  const chunks = [
    chunk("JSON", text, 0x20),
    ...(binary === null ? [] : [chunk("BIN\0", Buffer.alloc(binary), 0)]),
  ];
  const whole = Buffer.concat([Buffer.alloc(12), ...chunks]);
  whole.write("glTF", 0, "latin1");
  whole.writeUInt32LE(version, 4);
  whole.writeUInt32LE(length ?? whole.length, 8);
  return whole;
}

const refusalOf = (bytes: Uint8Array) => {
  try {
    checkGlb(bytes);
  } catch (cause) {
    if (cause instanceof CapabilityFault) return [cause.code, cause.message.replace(/^.*?: /, "")];
    throw cause;
  }
  return null;
};

test("meshes, vertices, triangles and textures of a valid GLB are counted", () => {
  expect(checkGlb(glb())).toEqual({ meshes: 1, vertices: 3, triangles: 2, textures: 0 });
  const bare = { ...GLTF, meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }], images: [{}] };
  expect(checkGlb(glb({ json: bare }))).toEqual({ meshes: 1, vertices: 3, triangles: 1, textures: 1 });
  const strip = { ...GLTF, meshes: [{ primitives: [{ attributes: { POSITION: 1 }, mode: 5 }] }] };
  expect(checkGlb(glb({ json: strip }))).toMatchObject({ vertices: 6, triangles: 4 });
});

const cut = (bytes: Buffer, to: number) => {
  const shorter = Buffer.from(bytes.subarray(0, to));
  shorter.writeUInt32LE(to, 8);
  return shorter;
};
const typed = (type: string) => {
  const bytes = glb();
  bytes.write(type, 16, "latin1");
  return bytes;
};

test.each<[string, Buffer, RegExp]>([
  ["nothing", Buffer.alloc(0), /no GLB header/],
  ["a page of HTML", Buffer.from("<!doctype html><title>Not found</title>"), /no GLB header/],
  ["version 1", glb({ version: 1 }), /version 2/],
  ["another length than it has", glb({ length: 99 }), /different length than its header/],
  ["a chunk that is cut off", cut(glb(), 60), /cut off/],
  ["half a chunk's head", cut(glb(), 16), /cut off/],
  ["a first chunk that is no JSON", typed("BIN\0"), /first chunk/],
  ["JSON that cannot be read", glb({ json: Buffer.from("{") }), /glTF 2/],
  ["JSON that is no text", glb({ json: Buffer.from([0xff, 0xfe, 0xff, 0xff]) }), /glTF 2/],
  ["more JSON than is read", glb({ json: Buffer.alloc(4 * 1024 * 1024 + 4, 0x20) }), /more than 4194304/],
  ["glTF 1", glb({ json: { ...GLTF, asset: { version: "1.0" } } }), /glTF 2/],
  ["no mesh", glb({ json: { ...GLTF, meshes: [] } }), /with a mesh/],
  ["no vertices", glb({ json: { ...GLTF, accessors: [{ count: 0 }, { count: 0 }] } }), /no vertices/],
  [
    "too many vertices",
    glb({ json: { ...GLTF, accessors: [{ count: 5_000_001 }, { count: 6 }] } }),
    /5000000/,
  ],
  ["an accessor that is not there", glb({ json: { ...GLTF, accessors: [] } }), /does not exist/],
  ["a buffer that is longer than its chunk", glb({ binary: 36 }), /buffer has a different length/],
  ["a chunk with more than its buffer", glb({ binary: 44 }), /buffer has a different length/],
  ["no binary chunk", glb({ binary: null }), /buffer has a different length/],
  [
    "a view outside of the buffer",
    glb({ json: { ...GLTF, bufferViews: [{ buffer: 0, byteOffset: 8, byteLength: 36 }] } }),
    /outside/,
  ],
  [
    "a view of another buffer",
    glb({ json: { ...GLTF, bufferViews: [{ buffer: 1, byteLength: 3 }] } }),
    /outside/,
  ],
  [
    "a buffer elsewhere",
    glb({ json: { ...GLTF, buffers: [{ byteLength: 40, uri: "https://x.test/a.bin" }] } }),
    /refers to data/,
  ],
  [
    "a picture as data URI",
    glb({ json: { ...GLTF, images: [{ uri: "data:image/png;base64,AAAA" }] } }),
    /refers to data/,
  ],
])("a file with %s is refused", (_case, bytes, message) => {
  const [code, why] = refusalOf(bytes) ?? [];
  expect(code).toBe("PROVIDER_ERROR");
  expect(why).toMatch(message);
});

test("a file above 64 MB is refused by its length alone", () => {
  expect(refusalOf(Buffer.alloc(64 * 1024 * 1024 + 1))?.[1]).toMatch(/67108865 bytes/);
});

test("a GLB with one changed byte passes or is refused with a reason", () => {
  const whole = glb();
  for (let at = 0; at < whole.length; at++)
    for (const value of [0, 0x7f, 0xff]) {
      const changed = Buffer.from(whole);
      changed[at] = value;
      expect(refusalOf(changed)?.[0] ?? "PROVIDER_ERROR").toBe("PROVIDER_ERROR");
    }
});
