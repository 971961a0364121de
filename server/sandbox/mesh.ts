import { createHash } from "node:crypto";
import { Document, NodeIO } from "@gltf-transform/core";
import { mapThree } from "@/server/compute/three";
import type { MeshRequest } from "./requests";

export type MeshAnswer = { mesh: { mediaType: "model/gltf-binary"; base64: string }; usage: { meshes: 1 } };

/** Resolution of each profile: steps around, and rows from top to bottom. */
const FINENESS: Record<MeshRequest["profile"], { around: number; rows: number }> = {
  draft_fast: { around: 16, rows: 16 },
  toy_default: { around: 32, rows: 32 },
  clean_game_mesh: { around: 24, rows: 48 },
  hero_hd: { around: 96, rows: 128 },
  enhanced_retry: { around: 64, rows: 96 },
};

type Colour = [number, number, number];
/** An object's outline in a picture: its width and its color at each height, from the top. */
type Outline = { widths: number[]; colours: Colour[] };

const ROWS = 128;
const LEAST_WIDTH = 0.04;

/**
 * Turns an object on a lathe, as wide as the pictures show it: the first from the front, a second from the side. With a texture
 * the mesh has the colors of the texture's picture, or else of the first one, tinted by the texture's prompt and mode. The same
 * request always gives the same bytes.
 */
export async function turnMesh(request: MeshRequest): Promise<MeshAnswer> {
  const [front, side = front] = await Promise.all(request.images.slice(0, 2).map(outlineOf));
  const painted = request.texture?.image ? await outlineOf(request.texture.image) : front;
  if (!front || !side || !painted) throw new Error("a request has at least one picture");
  const words = `${request.texture?.prompt ?? ""}\n${request.texture?.mode ?? ""}`;
  const colours = words.trim() ? painted.colours.map((colour) => tinted(colour, words)) : painted.colours;
  const bytes = await toGlb(request.profile, front.widths, side.widths, request.texture ? colours : null);
  const base64 = Buffer.from(bytes).toString("base64");
  return { mesh: { mediaType: "model/gltf-binary", base64 }, usage: { meshes: 1 } };
}

/** Finds the object: the opaque pixels or, if all are opaque, those that differ from the upper left corner. */
async function outlineOf({ base64 }: { base64: string }): Promise<Outline> {
  const bytes = Buffer.from(base64, "base64");
  const pixels = await decode(bytes).catch(() => null);
  if (!pixels) return outlineOfBytes(bytes);
  const at = (x: number, y: number) => pixels.subarray((y * ROWS + x) * 4, (y * ROWS + x) * 4 + 4);
  const isOpaque = pixels.every((value, index) => index % 4 !== 3 || value === 255);
  const [r = 0, g = 0, b = 0] = at(0, 0);
  const isObject = ([red = 0, green = 0, blue = 0, alpha = 0]: Uint8Array) =>
    isOpaque ? Math.abs(red - r) + Math.abs(green - g) + Math.abs(blue - b) > 60 : alpha > 127;
  const rows = Array.from({ length: ROWS }, (_, y) => {
    const found = Array.from({ length: ROWS }, (_, x) => x).filter((x) => isObject(at(x, y)));
    const sum = found.reduce<Colour>(
      ([red, green, blue], x) => {
        const [r = 0, g = 0, b = 0] = at(x, y);
        return [red + r, green + g, blue + b];
      },
      [0, 0, 0],
    );
    const width = found.length === 0 ? 0 : ((found.at(-1) ?? 0) - (found[0] ?? 0) + 1) / ROWS;
    return { width, colour: mapThree(sum, (each) => Math.round(each / Math.max(1, found.length))) };
  });
  const first = rows.findIndex(({ width }) => width > 0);
  const last = rows.findLastIndex(({ width }) => width > 0);
  if (last - first < 2) return outlineOfBytes(bytes);
  const object = rows.slice(first, last + 1);
  return {
    widths: object.map(({ width }) => Math.max(width, LEAST_WIDTH)),
    colours: object.map(({ colour }) => colour),
  };
}

/** The outline of a vase, for bytes that are not a picture, and for a picture without an object. */
function outlineOfBytes(bytes: Uint8Array): Outline {
  const seed = createHash("sha256").update(bytes).digest();
  const widths = Array.from(seed, (byte) => 0.2 + (byte / 255) * 0.5);
  const colours = Array.from(seed, (byte): Colour => [byte, 255 - byte, (byte * 7) % 256]);
  return { widths, colours };
}

async function decode(bytes: Uint8Array): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const { data } = await sharp(bytes, { limitInputPixels: 40_000_000 })
    .resize(ROWS, ROWS, { fit: "fill", kernel: "nearest" })
    .toColourspace("srgb")
    .ensureAlpha()
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  return data;
}

/** Shifts a color toward one that the words decide. */
function tinted(colour: Colour, words: string): Colour {
  const lean = createHash("sha256").update(words).digest();
  return mapThree(colour, (value, place) => Math.round(0.7 * value + 0.3 * (lean[place] ?? 0)));
}

/** Interpolates a list at a place from 0 to 1. */
const sample = (values: number[], place: number): number => {
  const at = place * (values.length - 1);
  const low = Math.floor(at);
  const [a = 0, b = a] = [values[low], values[low + 1]];
  return a + (b - a) * (at - low);
};

const HEIGHT = 2;

async function toGlb(
  profile: MeshRequest["profile"],
  front: number[],
  side: number[],
  colours: Colour[] | null,
): Promise<Uint8Array> {
  const { around, rows } = FINENESS[profile];
  const [positions, normals, uvs, indices]: [number[], number[], number[], number[]] = [[], [], [], []];
  const at = (row: number) => {
    const place = row / rows;
    return { rx: sample(front, place), rz: sample(side, place), y: HEIGHT * (0.5 - place) };
  };
  for (let row = 0; row <= rows; row++) {
    const { rx, rz, y } = at(row);
    const [above, below] = [at(Math.max(0, row - 1)), at(Math.min(rows, row + 1))];
    const fall = above.y - below.y;
    const [slopeX, slopeZ] = [(above.rx - below.rx) / fall, (above.rz - below.rz) / fall];
    for (let step = 0; step <= around; step++) {
      const turn = ((step % around) / around) * Math.PI * 2;
      const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
      positions.push(rx * cos, y, rz * sin);
      normals.push(...unit(rz * cos, -(slopeX * rz * cos * cos + slopeZ * rx * sin * sin), rx * sin));
      uvs.push(step / around, row / rows);
    }
  }
  const ring = around + 1;
  for (let row = 0; row < rows; row++) {
    for (let step = 0; step < around; step++) {
      const [a, b] = [row * ring + step, (row + 1) * ring + step];
      indices.push(a, a + 1, b, a + 1, b + 1, b);
    }
  }
  for (const [row, up] of [
    [0, 1],
    [rows, -1],
  ] as const) {
    const { rx, rz, y } = at(row);
    const middle = positions.length / 3;
    positions.push(0, y, 0);
    normals.push(0, up, 0);
    uvs.push(0.5, row / rows);
    for (let step = 0; step <= around; step++) {
      const turn = ((step % around) / around) * Math.PI * 2;
      positions.push(rx * Math.cos(turn), y, rz * Math.sin(turn));
      normals.push(0, up, 0);
      uvs.push(step / around, row / rows);
    }
    for (let step = 0; step < around; step++) {
      const [a, b] = [middle + 1 + step, middle + 2 + step];
      indices.push(...(up > 0 ? [middle, b, a] : [middle, a, b]));
    }
  }
  return write({ positions, normals, uvs, indices }, colours);
}

function unit(x: number, y: number, z: number): [number, number, number] {
  const length = Math.hypot(x, y, z) || 1;
  return [x / length, y / length, z / length];
}

type Shape = { positions: number[]; normals: number[]; uvs: number[]; indices: number[] };

async function write(shape: Shape, colours: Colour[] | null): Promise<Uint8Array> {
  const document = new Document();
  const buffer = document.createBuffer();
  const accessor = (type: "VEC3" | "VEC2" | "SCALAR", array: Float32Array | Uint32Array | Uint16Array) =>
    document.createAccessor().setType(type).setArray(array).setBuffer(buffer);
  const material = document.createMaterial("body").setRoughnessFactor(0.8).setMetallicFactor(0);
  if (colours) {
    const image = await paint(colours);
    material.setBaseColorTexture(
      document.createTexture("base colour").setImage(image).setMimeType("image/png"),
    );
  } else material.setBaseColorFactor([0.72, 0.72, 0.72, 1]);
  const primitive = document
    .createPrimitive()
    .setAttribute("POSITION", accessor("VEC3", new Float32Array(shape.positions)))
    .setAttribute("NORMAL", accessor("VEC3", new Float32Array(shape.normals)))
    .setAttribute("TEXCOORD_0", accessor("VEC2", new Float32Array(shape.uvs)))
    .setIndices(accessor("SCALAR", new Uint16Array(shape.indices)))
    .setMaterial(material);
  const node = document.createNode("object").setMesh(document.createMesh("object").addPrimitive(primitive));
  document.getRoot().setDefaultScene(document.createScene("scene").addChild(node));
  return new NodeIO().writeBinary(document);
}

const TEXTURE_WIDTH = 8;

/** Paints the colors from top to bottom. */
async function paint(colours: Colour[]): Promise<Uint8Array> {
  const { default: sharp } = await import("sharp");
  const data = new Uint8Array(ROWS * TEXTURE_WIDTH * 3);
  for (let row = 0; row < ROWS; row++) {
    const [r, g, b] = colours[Math.floor((row / ROWS) * colours.length)] ?? [0, 0, 0];
    for (let column = 0; column < TEXTURE_WIDTH; column++)
      data.set([r, g, b], (row * TEXTURE_WIDTH + column) * 3);
  }
  return sharp(data, { raw: { width: TEXTURE_WIDTH, height: ROWS, channels: 3 } })
    .png()
    .toBuffer();
}
