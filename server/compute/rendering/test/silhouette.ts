import draco from "draco3dgltf";
import { MeshoptDecoder } from "meshoptimizer";
import sharp from "sharp";
import type { Camera } from "../request";

/*
 * An independent computation of a camera's view: reads the GLB file by hand, value by value, and fills triangles row by row.
 * Shares no code with the renderer.
 */

// biome-ignore lint/suspicious/noExplicitAny: a glTF document as it comes
type Json = any;
type Point = [number, number, number];
type Face = {
  points: [Point, Point, Point];
  uvs: [number, number][] | null;
  doubleSided: boolean;
  mask: Mask | null;
};
type Mask = { width: number; height: number; data: Buffer; cutoff: number };

const COMPONENT = {
  5120: ["getInt8", 1, 127],
  5121: ["getUint8", 1, 255],
  5122: ["getInt16", 2, 32767],
  5123: ["getUint16", 2, 65535],
  5125: ["getUint32", 4, 1],
  5126: ["getFloat32", 4, 1],
} as const;
const SIZE: Record<string, number> = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };

export async function facesOf(glb: Uint8Array): Promise<Face[]> {
  const view = new DataView(glb.buffer, glb.byteOffset, glb.byteLength);
  const jsonLength = view.getUint32(12, true);
  const json: Json = JSON.parse(Buffer.from(glb.subarray(20, 20 + jsonLength)).toString());
  const bin = glb.subarray(28 + jsonLength);
  await MeshoptDecoder.ready;
  const decoder = await draco.createDecoderModule();

  const bytesOf = (index: number): Uint8Array => {
    const each = json.bufferViews[index];
    const packed = each.extensions?.EXT_meshopt_compression;
    if (!packed) return bin.subarray(each.byteOffset ?? 0, (each.byteOffset ?? 0) + each.byteLength);
    const target = new Uint8Array(packed.count * packed.byteStride);
    const from = packed.byteOffset ?? 0;
    MeshoptDecoder.decodeGltfBuffer(
      target,
      packed.count,
      packed.byteStride,
      bin.subarray(from, from + packed.byteLength),
      packed.mode,
      packed.filter,
    );
    return target;
  };
  const read = (index: number): number[][] => {
    const accessor = json.accessors[index];
    const [method, bytes, largest] = COMPONENT[accessor.componentType as keyof typeof COMPONENT];
    const size = SIZE[accessor.type] as number;
    const data = bytesOf(accessor.bufferView);
    const values = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const stride = json.bufferViews[accessor.bufferView].byteStride ?? size * bytes;
    return Array.from({ length: accessor.count }, (_, n) =>
      Array.from({ length: size }, (_, k) => {
        const value = values[method]((accessor.byteOffset ?? 0) + n * stride + k * bytes, true);
        return accessor.normalized ? Math.max(-1, value / largest) : value;
      }),
    );
  };
  const unpack = (primitive: Json) => {
    const { bufferView, attributes } = primitive.extensions.KHR_draco_mesh_compression;
    const data = bytesOf(bufferView);
    const reader = new decoder.Decoder();
    const mesh = new decoder.Mesh();
    const buffer = new decoder.DecoderBuffer();
    buffer.Init(data as never, data.byteLength);
    reader.DecodeBufferToMesh(buffer, mesh);
    const values = new decoder.DracoFloat32Array();
    reader.GetAttributeFloatForAllPoints(
      mesh,
      reader.GetAttributeByUniqueId(mesh, attributes.POSITION),
      values,
    );
    const positions = Array.from({ length: mesh.num_points() }, (_, n) =>
      [0, 1, 2].map((k) => values.GetValue(n * 3 + k)),
    );
    const face = new decoder.DracoInt32Array();
    const corners = Array.from({ length: mesh.num_faces() }, (_, n) => {
      reader.GetFaceFromMesh(mesh, n, face);
      return [0, 1, 2].map((k) => face.GetValue(k));
    }).flat();
    return { positions, corners };
  };

  const worlds = new Map<number, number[][]>();
  const rows = (node: Json): number[][] => {
    if (node.matrix)
      return [0, 1, 2, 3].map((row) => [0, 1, 2, 3].map((column) => node.matrix[column * 4 + row]));
    return placed(node.translation ?? [0, 0, 0], node.rotation ?? [0, 0, 0, 1], node.scale ?? [1, 1, 1]);
  };
  const visit = (index: number, parent: number[][]) => {
    const world = product(parent, rows(json.nodes[index]));
    worlds.set(index, world);
    for (const child of json.nodes[index].children ?? []) visit(child, world);
  };
  const scene = json.scenes[json.scene ?? 0];
  for (const root of scene.nodes) visit(root, placed([0, 0, 0], [0, 0, 0, 1], [1, 1, 1]));

  const masks = new Map<number, Mask>();
  const maskOf = async (material: Json): Promise<Mask | null> => {
    const texture = material?.pbrMetallicRoughness?.baseColorTexture;
    if (material?.alphaMode !== "MASK" || !texture) return null;
    const known = masks.get(texture.index);
    if (known) return known;
    const image = json.images[json.textures[texture.index].source];
    const { data, info } = await sharp(bytesOf(image.bufferView))
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const mask = { width: info.width, height: info.height, data, cutoff: material.alphaCutoff ?? 0.5 };
    masks.set(texture.index, mask);
    return mask;
  };

  const faces: Face[] = [];
  for (const [index, world] of worlds) {
    const node = json.nodes[index];
    if (node.mesh === undefined) continue;
    const mesh = json.meshes[node.mesh];
    const weights: number[] = node.weights ?? mesh.weights ?? [];
    for (const primitive of mesh.primitives) {
      const packed = primitive.extensions?.KHR_draco_mesh_compression ? unpack(primitive) : null;
      const own = packed?.positions ?? read(primitive.attributes.POSITION);
      (primitive.targets ?? []).forEach((target: Json, n: number) => {
        read(target.POSITION).forEach((moved, at) => {
          for (let k = 0; k < 3; k++)
            (own[at] as number[])[k] =
              ((own[at] as number[])[k] as number) + (weights[n] ?? 0) * (moved[k] as number);
        });
      });
      const corners =
        packed?.corners ??
        (primitive.indices === undefined
          ? own.map((_, n) => n)
          : read(primitive.indices).map(([n]) => n as number));
      const material = json.materials?.[primitive.material];
      const mask = await maskOf(material);
      const uvs = mask ? read(primitive.attributes.TEXCOORD_0) : null;
      const instances = instancesOf(node, read).map((each) => product(world, each));
      const skin = node.skin === undefined ? null : json.skins[node.skin];
      const bones = skin && bonesOf(skin, read, worlds);
      const [joints, shares] = skin
        ? [read(primitive.attributes.JOINTS_0), read(primitive.attributes.WEIGHTS_0)]
        : [[], []];
      for (const matrix of instances) {
        const points = own.map((point, n) => {
          if (!bones) return moved(matrix, point);
          const sum: Point = [0, 0, 0];
          (joints[n] as number[]).forEach((joint, k) => {
            const share = (shares[n] as number[])[k] as number;
            moved(bones[joint] as number[][], point).forEach((value, axis) => {
              sum[axis] = (sum[axis] as number) + value * share;
            });
          });
          const total = (shares[n] as number[]).reduce((all, share) => all + share, 0);
          return sum.map((value) => value / total) as Point;
        });
        const isFlipped = !bones && determinant(matrix) < 0;
        const isStrip = primitive.mode === 5;
        for (let n = 0; n + 2 < corners.length; n += isStrip ? 1 : 3) {
          const order = isFlipped !== (isStrip && n % 2 === 1) ? [0, 2, 1] : [0, 1, 2];
          const which = order.map((k) => corners[n + k] as number);
          faces.push({
            points: which.map((each) => points[each]) as Face["points"],
            uvs: uvs && which.map((each) => uvs[each] as [number, number]),
            doubleSided: material?.doubleSided ?? false,
            mask,
          });
        }
      }
    }
  }
  return faces;
}

function instancesOf(node: Json, read: (index: number) => number[][]): number[][][] {
  const attributes = node.extensions?.EXT_mesh_gpu_instancing?.attributes;
  if (!attributes) return [placed([0, 0, 0], [0, 0, 0, 1], [1, 1, 1])];
  const [t, r, s] = ["TRANSLATION", "ROTATION", "SCALE"].map((name) => read(attributes[name])) as [
    number[][],
    number[][],
    number[][],
  ];
  return t.map((each, n) => placed(each, r[n] as number[], s[n] as number[]));
}

function bonesOf(
  skin: Json,
  read: (index: number) => number[][],
  worlds: Map<number, number[][]>,
): number[][][] {
  const inverse = read(skin.inverseBindMatrices);
  return skin.joints.map((joint: number, n: number) =>
    product(
      worlds.get(joint) as number[][],
      [0, 1, 2, 3].map((row) =>
        [0, 1, 2, 3].map((column) => (inverse[n] as number[])[column * 4 + row] as number),
      ),
    ),
  );
}

/** Rotates the three axes instead of using the usual formula. */
function placed(t: number[], q: number[], s: number[]): number[][] {
  const length = Math.hypot(...q);
  const [x, y, z, w] = q.map((each) => each / length) as [number, number, number, number];
  const turn = (v: Point): Point => {
    // v + 2w (q x v) + 2 q x (q x v)
    const c: Point = [y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]];
    const d: Point = [y * c[2] - z * c[1], z * c[0] - x * c[2], x * c[1] - y * c[0]];
    return [v[0] + 2 * (w * c[0] + d[0]), v[1] + 2 * (w * c[1] + d[1]), v[2] + 2 * (w * c[2] + d[2])];
  };
  const axes = [turn([s[0] as number, 0, 0]), turn([0, s[1] as number, 0]), turn([0, 0, s[2] as number])];
  return [
    ...[0, 1, 2].map((row) => [...axes.map((axis) => axis[row] as number), t[row] as number]),
    [0, 0, 0, 1],
  ];
}

const product = (a: number[][], b: number[][]): number[][] =>
  a.map((row) =>
    [0, 1, 2, 3].map((column) =>
      row.reduce((sum, each, k) => sum + each * ((b[k] as number[])[column] as number), 0),
    ),
  );
const moved = (m: number[][], p: number[]): Point =>
  [0, 1, 2].map((row) => {
    const r = m[row] as [number, number, number, number];
    return r[0] * (p[0] as number) + r[1] * (p[1] as number) + r[2] * (p[2] as number) + r[3];
  }) as Point;
const determinant = (m: number[][]) => {
  const [a, b, c] = m as [number[], number[], number[]];
  return dot([a[0], b[0], c[0]] as Point, cross([a[1], b[1], c[1]] as Point, [a[2], b[2], c[2]] as Point));
};
const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Point, b: Point) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Point, b: Point): Point => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Point): Point => a.map((each) => each / Math.sqrt(dot(a, a))) as Point;

/** Marks the pixels whose middles the faces cover, seen from the camera of a manifest. */
export function silhouette(faces: Face[], camera: Camera, width: number, height: number): Uint8Array {
  const covered = new Uint8Array(width * height);
  const forward = unit(minus(camera.target, camera.position));
  const right = unit(cross(forward, camera.up));
  const up = cross(right, forward);
  const onScreen = (point: Point) => {
    const v = minus(point, camera.position);
    const depth = dot(v, forward);
    return {
      x: (dot(v, right) / depth / camera.tanHalfHorizontal + 1) * (width / 2),
      y: (1 - dot(v, up) / depth / camera.tanHalfVertical) * (height / 2),
    };
  };
  for (const face of faces) {
    const [a, b, c] = face.points;
    const normal = cross(minus(b, a), minus(c, a));
    if (!face.doubleSided && dot(normal, minus(camera.position, a)) <= 0) continue;
    const corners = face.points.map(onScreen);
    const top = Math.max(0, Math.ceil(Math.min(...corners.map(({ y }) => y)) - 0.5));
    const bottom = Math.min(height - 1, Math.floor(Math.max(...corners.map(({ y }) => y)) - 0.5));
    for (let row = top; row <= bottom; row++) {
      const y = row + 0.5;
      const crossings: number[] = [];
      corners.forEach((from, n) => {
        const to = corners[(n + 1) % 3] as { x: number; y: number };
        if (from.y <= y !== to.y <= y)
          crossings.push(from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x));
      });
      if (crossings.length < 2) continue;
      const [left, end] = [Math.min(...crossings), Math.max(...crossings)];
      for (let column = Math.max(0, Math.ceil(left - 0.5)); column + 0.5 <= end && column < width; column++) {
        if (face.mask) {
          const ray = [0, 1, 2].map(
            (axis) =>
              (forward[axis] as number) +
              (right[axis] as number) * (((column + 0.5) / width) * 2 - 1) * camera.tanHalfHorizontal +
              (up[axis] as number) * (1 - (y / height) * 2) * camera.tanHalfVertical,
          ) as Point;
          if (!isOpaque(face, normal, camera.position, ray)) continue;
        }
        covered[row * width + column] = 1;
      }
    }
  }
  return covered;
}

/** True if the texture is opaque where the ray meets the face's plane. */
function isOpaque({ points: [a, b, c], uvs, mask }: Face, normal: Point, from: Point, ray: Point): boolean {
  if (!mask || !uvs) return true;
  const t = dot(minus(a, from), normal) / dot(ray, normal);
  const hit = from.map((each, axis) => each + t * (ray[axis] as number)) as Point;
  const whole = dot(normal, normal);
  const wb = dot(cross(minus(hit, a), minus(c, a)), normal) / whole;
  const wc = dot(cross(minus(b, a), minus(hit, a)), normal) / whole;
  const at = (k: 0 | 1) =>
    (uvs[0]?.[k] as number) * (1 - wb - wc) + (uvs[1]?.[k] as number) * wb + (uvs[2]?.[k] as number) * wc;
  const [x, y] = [
    Math.min(mask.width - 1, Math.max(0, Math.floor(at(0) * mask.width))),
    Math.min(mask.height - 1, Math.max(0, Math.floor(at(1) * mask.height))),
  ];
  return (mask.data[(y * mask.width + x) * 4 + 3] as number) / 255 >= mask.cutoff;
}

/** The pixels that both cover, as a part of those that either covers. */
export function overlap(one: Uint8Array, other: Uint8Array): number {
  let [both, either] = [0, 0];
  for (let n = 0; n < one.length; n++) {
    if (one[n] && other[n]) both++;
    if (one[n] || other[n]) either++;
  }
  return either === 0 ? 1 : both / either;
}
