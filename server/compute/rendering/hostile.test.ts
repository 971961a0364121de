import { readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { render } from "./render";
import { Refused, type RenderRequest } from "./request";
import { blankModel, box, TEST_MODELS, toGlb } from "./test/models";

const REQUEST: RenderRequest = {
  views: ["front"],
  sheet: false,
  width: 128,
  height: 128,
  framing: "fit",
  style: "material",
  background: "light",
};

// biome-ignore lint/suspicious/noExplicitAny: a glTF document, to be broken at any place
type Json = any;

/** Packs a document and its binary part into a GLB file. */
function pack(json: Json | string, bin: Uint8Array): Uint8Array {
  const text = Buffer.from(typeof json === "string" ? json : JSON.stringify(json));
  const padded = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, 0x20)]);
  const header = Buffer.alloc(20);
  header.writeUInt32LE(0x46546c67, 0);
  header.writeUInt32LE(2, 4);
  header.writeUInt32LE(28 + padded.length + bin.length, 8);
  header.writeUInt32LE(padded.length, 12);
  header.writeUInt32LE(0x4e4f534a, 16);
  const second = Buffer.alloc(8);
  second.writeUInt32LE(bin.length, 0);
  second.writeUInt32LE(0x004e4942, 4);
  return new Uint8Array(Buffer.concat([header, padded, second, bin]));
}

function unpack(glb: Uint8Array): { json: Json; bin: Uint8Array } {
  const length = new DataView(glb.buffer, glb.byteOffset).getUint32(12, true);
  return {
    json: JSON.parse(Buffer.from(glb.subarray(20, 20 + length)).toString()),
    bin: glb.subarray(28 + length),
  };
}

async function cube(): Promise<Uint8Array> {
  const { document, add } = blankModel();
  add(box());
  return toGlb(document);
}

/** The refusal's message, or "drawn". */
async function outcome(glb: Uint8Array): Promise<string> {
  try {
    await render(glb, REQUEST);
    return "drawn";
  } catch (cause) {
    if (cause instanceof Refused) return cause.message;
    throw cause;
  }
}

async function changed(change: (json: Json) => void): Promise<string> {
  const { json, bin } = unpack(await cube());
  change(json);
  return outcome(pack(json, bin));
}

describe("a damaged file", () => {
  test("a file that is packed again unchanged is drawn", async () => {
    expect(await changed(() => {})).toBe("drawn");
  });

  test("a file that is cut off anywhere is refused", async () => {
    const glb = await cube();
    for (let length = 0; length < glb.length; length += 29)
      expect(await outcome(glb.slice(0, length))).toMatch(/cut off|not a GLB/);
  });

  test("a file with any one byte of its JSON changed is drawn or refused", { tags: "long" }, async () => {
    const glb = await cube();
    const end = 20 + new DataView(glb.buffer, glb.byteOffset).getUint32(12, true);
    for (let at = 20; at < end; at += 13) {
      const broken = glb.slice();
      broken[at] = 0x30 + (at % 10);
      expect(typeof (await outcome(broken))).toBe("string");
    }
  });

  test.each([
    ["draco", 11],
    ["meshopt and quantized", 13],
  ])("a file with changed bytes in its packed mesh (%s) is drawn or refused", async (name, step) => {
    const glb = await (TEST_MODELS[name] as () => Promise<Uint8Array>)();
    const start = 28 + new DataView(glb.buffer, glb.byteOffset).getUint32(12, true);
    for (let n = 0; n < 16; n++) {
      const broken = glb.slice();
      for (let k = 0; k < 3; k++)
        broken[start + ((n * 997 * step + k * 31) % (glb.length - start))] = (n * 73) % 256;
      expect(typeof (await outcome(broken))).toBe("string");
    }
  });

  const fields: [string, (json: Json) => void, RegExp][] = [
    ["a data URI", (json) => (json.buffers[0].uri = "data:application/octet-stream;base64,AAAA"), /data URI/],
    ["a file elsewhere", (json) => (json.buffers[0].uri = "mesh.bin"), /in another file/],
    ["an address", (json) => (json.images = [{ uri: "http://169.254.169.254/" }]), /in another file/],
    [
      "KTX2 textures",
      (json) => (json.extensionsRequired = ["KHR_texture_basisu"]),
      /requires KHR_texture_basisu/,
    ],
    ["an unknown extension", (json) => (json.extensionsRequired = ["ACME_mesh"]), /requires ACME_mesh/],
    ["billions of values", (json) => (json.accessors[0].count = 4e9), /./],
    [
      "billions of values from nowhere",
      (json) => json.accessors.push({ count: 4e9, componentType: 5126, type: "VEC3" }),
      /needs 48\d{9} bytes/,
    ],
    [
      "too many vertices",
      (json) => {
        json.accessors.push({ count: 5_000_001, componentType: 5126, type: "VEC3" });
        json.meshes[0].primitives[0].attributes.POSITION = json.accessors.length - 1;
      },
      /5000001 vertices/,
    ],
    [
      "the same bytes named a thousand times",
      (json) => {
        for (let n = 0; n < 19_000; n++)
          json.accessors.push({ count: 40_000, componentType: 5126, type: "MAT4" });
      },
      /data needs/,
    ],
    ["a circle of nodes", (json) => (json.nodes[0].children = [0]), /cycle/],
    [
      "a node with two parents",
      (json) => json.nodes.push({ children: [0] }, { children: [0] }),
      /two parents/,
    ],
    ["a node that is not there", (json) => (json.scenes[0].nodes = [7]), /no node 7/],
    ["a mesh that is not there", (json) => (json.nodes[0].mesh = 9), /./],
    ["a view beyond its buffer", (json) => (json.bufferViews[0].byteLength = 1e9), /outside its buffer/],
    ["a negative offset", (json) => (json.bufferViews[0].byteOffset = -8), /outside its buffer/],
    ["a list that is none", (json) => (json.nodes = {}), /not a list/],
    ["no scene content", (json) => (json.scenes[0].nodes = []), /shows no triangles/],
    ["glTF 1.0", (json) => (json.asset.version = "1.0"), /not glTF 2.0/],
    [
      "a place that is no number",
      (json) => (json.nodes[0].translation = [1, "2", 3]),
      /not given in numbers/,
    ],
    ["a size beyond numbers", (json) => (json.nodes[0].scale = [1e308, 1e308, 1e308]), /./],
    ["no size at all", (json) => (json.nodes[0].scale = [0, 0, 0]), /at one point/],
  ];
  test.each(fields)("%s is refused with a message of its own", async (_what, change, message) => {
    const said = await changed(change);
    expect(said).not.toBe("drawn");
    expect(said).toMatch(message);
  });

  test("JSON of more than 4 MiB is not parsed", async () => {
    const { bin } = unpack(await cube());
    expect(await outcome(pack(`${"[".repeat(5_000_000)}`, bin))).toMatch(/4 MiB/);
    expect(await outcome(pack(`${"[".repeat(4_000_000)}`, bin))).toMatch(/cannot be parsed/);
  });

  test("indices that name no vertex are refused", async () => {
    const { document, add, accessor } = blankModel();
    const { primitive } = add(box());
    primitive.setIndices(accessor(new Uint32Array([0, 1, 99]), "SCALAR"));
    expect(await outcome(await toGlb(document))).toMatch(/vertex 99 of 24/);
  });

  test("vertices that are not numbers are refused", async () => {
    const { document, add, accessor } = blankModel();
    const { primitive } = add(box());
    primitive.setAttribute("POSITION", accessor(new Float32Array(72).fill(Number.NaN), "VEC3"));
    expect(await outcome(await toGlb(document))).toMatch(/not a number/);
  });
});

describe("a texture", () => {
  const textured = async (image: Uint8Array) => {
    const { document, add } = blankModel();
    const texture = document.createTexture("t").setImage(image).setMimeType("image/png");
    add(box()).material.setBaseColorTexture(texture);
    return outcome(await toGlb(document));
  };

  test("a texture of more than 40 megapixels is refused before it is decoded", async () => {
    const large = sharp({ create: { width: 7000, height: 6000, channels: 3, background: "#fff" } });
    expect(await textured(await large.png().toBuffer())).toMatch(/7000 x 6000 pixels/);
  });

  test("a texture that is cut off or not a picture is refused", async () => {
    const png = readFileSync(new URL("../../../docs/screenshot.png", import.meta.url));
    expect(await textured(new Uint8Array(png.subarray(0, 5000)))).toMatch(/texture 0 cannot be read/);
    expect(await textured(Uint8Array.of(1, 2, 3))).toMatch(/texture 0/);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    expect(await textured(new Uint8Array(svg))).toMatch(/texture 0/);
  });
});
