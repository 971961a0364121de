import { Document, NodeIO, Primitive } from "@gltf-transform/core";
import {
  EXTMeshGPUInstancing,
  EXTMeshoptCompression,
  KHRDracoMeshCompression,
  KHRMeshQuantization,
  KHRTextureTransform,
} from "@gltf-transform/extensions";
import draco from "draco3dgltf";
import { MeshoptDecoder, MeshoptEncoder } from "meshoptimizer";
import sharp from "sharp";

/* Models made for tests, each with one feature that a GLB file can have. */

type Shape = { positions: number[]; normals?: number[]; uvs?: number[]; indices: number[] };

/** A tube tied in a knot: curved everywhere, with holes. */
export function knot(rings = 160, sides = 16): Shape {
  const shape = {
    positions: [] as number[],
    normals: [] as number[],
    uvs: [] as number[],
    indices: [] as number[],
  };
  const at = (t: number) => [
    (2 + Math.cos(3 * t)) * Math.cos(2 * t),
    (2 + Math.cos(3 * t)) * Math.sin(2 * t),
    Math.sin(3 * t) * 1.2,
  ];
  for (let ring = 0; ring <= rings; ring++) {
    const t = (ring / rings) * 2 * Math.PI;
    const [p, q] = [at(t), at(t + 0.01)] as [number[], number[]];
    const along = unit(q.map((each, k) => each - (p[k] as number)));
    const side = unit(cross(along, [0.3, 0.2, 1]));
    const up = cross(side, along);
    for (let n = 0; n <= sides; n++) {
      const turn = (n / sides) * 2 * Math.PI;
      const normal = side.map((each, k) => each * Math.cos(turn) + (up[k] as number) * Math.sin(turn));
      shape.positions.push(...p.map((each, k) => each + 0.55 * (normal[k] as number)));
      shape.normals.push(...normal);
      shape.uvs.push((ring / rings) * 12, n / sides);
    }
  }
  for (let ring = 0; ring < rings; ring++)
    for (let n = 0; n < sides; n++) {
      const a = ring * (sides + 1) + n;
      const b = a + sides + 1;
      shape.indices.push(a, a + 1, b, b, a + 1, b + 1);
    }
  return shape;
}

/** A box with four vertices a face. */
export function box(x = 1, y = 1, z = 1, hasNormals = true): Shape {
  const shape = {
    positions: [] as number[],
    normals: [] as number[],
    uvs: [] as number[],
    indices: [] as number[],
  };
  for (let face = 0; face < 6; face++) {
    const [axis, sign] = [face >> 1, face & 1 ? 1 : -1];
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    const from = shape.positions.length / 3;
    for (const [a, b] of [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ] as const) {
      const point = [0, 0, 0];
      const normal = [0, 0, 0];
      point[axis] = sign;
      normal[axis] = sign;
      point[u] = a * sign;
      point[v] = b;
      shape.positions.push((point[0] as number) * x, (point[1] as number) * y, (point[2] as number) * z);
      shape.normals.push(...normal);
      shape.uvs.push((a + 1) / 2, (1 - b) / 2);
    }
    shape.indices.push(from, from + 1, from + 2, from, from + 2, from + 3);
  }
  return hasNormals ? shape : { positions: shape.positions, indices: shape.indices };
}

const cross = (a: number[], b: number[]) => [
  (a[1] as number) * (b[2] as number) - (a[2] as number) * (b[1] as number),
  (a[2] as number) * (b[0] as number) - (a[0] as number) * (b[2] as number),
  (a[0] as number) * (b[1] as number) - (a[1] as number) * (b[0] as number),
];
const unit = (a: number[]) => {
  const length = Math.hypot(...a);
  return a.map((each) => each / length);
};

/** A document with a scene and a buffer, and functions that add to them. */
export function blankModel() {
  const document = new Document();
  const buffer = document.createBuffer();
  const scene = document.createScene("scene");
  const accessor = (
    array: Float32Array | Uint32Array | Uint16Array | Uint8Array,
    type: "SCALAR" | "VEC2" | "VEC3" | "VEC4" | "MAT4",
  ) => document.createAccessor().setBuffer(buffer).setType(type).setArray(array);
  const primitive = ({ positions, normals, uvs, indices }: Shape) => {
    const made = document
      .createPrimitive()
      .setMode(Primitive.Mode["TRIANGLES"] as 4)
      .setAttribute("POSITION", accessor(new Float32Array(positions), "VEC3"))
      .setIndices(accessor(new Uint32Array(indices), "SCALAR"));
    if (normals) made.setAttribute("NORMAL", accessor(new Float32Array(normals), "VEC3"));
    if (uvs) made.setAttribute("TEXCOORD_0", accessor(new Float32Array(uvs), "VEC2"));
    return made;
  };
  const add = (shape: Shape, color?: [number, number, number, number]) => {
    const made = primitive(shape);
    const material = document.createMaterial("paint").setMetallicFactor(0).setRoughnessFactor(0.5);
    if (color) material.setBaseColorFactor(color);
    made.setMaterial(material);
    const mesh = document.createMesh("mesh").addPrimitive(made);
    const node = document.createNode("node").setMesh(mesh);
    scene.addChild(node);
    return { node, mesh, material, primitive: made };
  };
  return { document, scene, accessor, primitive, add };
}

async function writer() {
  await Promise.all([MeshoptEncoder.ready, MeshoptDecoder.ready]);
  return new NodeIO()
    .registerExtensions([
      EXTMeshGPUInstancing,
      EXTMeshoptCompression,
      KHRDracoMeshCompression,
      KHRMeshQuantization,
      KHRTextureTransform,
    ])
    .registerDependencies({
      "draco3d.encoder": await draco.createEncoderModule(),
      "draco3d.decoder": await draco.createDecoderModule(),
      "meshopt.encoder": MeshoptEncoder,
      "meshopt.decoder": MeshoptDecoder,
    });
}

export const toGlb = async (document: Document): Promise<Uint8Array> =>
  (await writer()).writeBinary(document);

/** A picture of squares in two colors, which may be transparent. */
export async function squares(
  size: number,
  cells: number,
  dark: [number, number, number, number],
  bright: [number, number, number, number],
  format: "png" | "webp" | "jpeg" = "png",
): Promise<Uint8Array> {
  const data = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const isDark = (Math.floor((x * cells) / size) + Math.floor((y * cells) / size)) % 2 === 0;
      data.set(isDark ? dark : bright, (y * size + x) * 4);
    }
  const picture = sharp(data, { raw: { width: size, height: size, channels: 4 } });
  return picture.toFormat(format, format === "webp" ? { lossless: true } : {}).toBuffer();
}

type Made = Record<string, () => Promise<Uint8Array>>;
const RED: [number, number, number, number] = [0.8, 0.1, 0.08, 1];

export const TEST_MODELS: Made = {
  knot: async () => {
    const { document, add } = blankModel();
    add(knot(), [0.05, 0.25, 0.7, 1]);
    return toGlb(document);
  },
  "textured cube": async () => {
    const { document, add } = blankModel();
    const { material } = add(box());
    const image = await squares(256, 8, [200, 60, 40, 255], [240, 230, 210, 255]);
    material.setBaseColorTexture(document.createTexture("squares").setImage(image).setMimeType("image/png"));
    return toGlb(document);
  },
  "webp and texture transform": async () => {
    const { document, add } = blankModel();
    const { material } = add(box(1.4, 1, 0.6));
    const image = await squares(128, 2, [30, 90, 160, 255], [250, 200, 60, 255], "webp");
    material.setBaseColorTexture(document.createTexture("squares").setImage(image).setMimeType("image/webp"));
    const { EXTTextureWebP } = await import("@gltf-transform/extensions");
    document.createExtension(EXTTextureWebP).setRequired(true);
    const transform = document.createExtension(KHRTextureTransform).createTransform();
    material
      .getBaseColorTextureInfo()
      ?.setExtension(
        "KHR_texture_transform",
        transform.setScale([3, 3]).setRotation(0.5).setOffset([0.1, 0.2]),
      );
    const io = (await writer()).registerExtensions([EXTTextureWebP]);
    return io.writeBinary(document);
  },
  "cut-out squares": async () => {
    const { document, add } = blankModel();
    const { material } = add(box());
    const image = await squares(256, 8, [40, 130, 50, 255], [0, 0, 0, 0]);
    material
      .setBaseColorTexture(document.createTexture("leaves").setImage(image).setMimeType("image/png"))
      .setAlphaMode("MASK")
      .setDoubleSided(true);
    return toGlb(document);
  },
  "glass around a core": async () => {
    const { document, add } = blankModel();
    add(box(0.5, 0.5, 0.5), RED);
    const { material } = add(knot(120, 12), [0.3, 0.7, 0.9, 0.35]);
    material.setAlphaMode("BLEND").setDoubleSided(true);
    return toGlb(document);
  },
  "vertex colours without normals": async () => {
    const { document, add, accessor } = blankModel();
    const { normals: _, uvs: __, ...shape } = knot(100, 12);
    const { primitive } = add(shape);
    const count = shape.positions.length / 3;
    const colors = new Uint8Array(count * 4);
    for (let n = 0; n < count; n++)
      colors.set([(n * 255) / count, 128 + 127 * Math.sin(n / 9), 255 - (n * 255) / count, 255], n * 4);
    primitive.setAttribute("COLOR_0", accessor(colors, "VEC4").setNormalized(true));
    return toGlb(document);
  },
  "skinned arm": async () => {
    const { document, scene, accessor, primitive } = blankModel();
    const shape = { positions: [] as number[], normals: [] as number[], indices: [] as number[] };
    const [joints, weights]: [number[], number[]] = [[], []];
    for (let ring = 0; ring <= 20; ring++)
      for (let n = 0; n < 16; n++) {
        const turn = (n / 16) * 2 * Math.PI;
        shape.positions.push(0.3 * Math.cos(turn), ring * 0.15, 0.3 * Math.sin(turn));
        shape.normals.push(Math.cos(turn), 0, Math.sin(turn));
        const bend = Math.min(1, Math.max(0, (ring - 7) / 6));
        joints.push(0, 1, 0, 0);
        weights.push(1 - bend, bend, 0, 0);
      }
    for (let ring = 0; ring < 20; ring++)
      for (let n = 0; n < 16; n++) {
        const [a, b] = [ring * 16 + n, ring * 16 + ((n + 1) % 16)];
        shape.indices.push(a, a + 16, b, b, a + 16, b + 16);
      }
    const made = primitive(shape)
      .setAttribute("JOINTS_0", accessor(new Uint8Array(joints), "VEC4"))
      .setAttribute("WEIGHTS_0", accessor(new Float32Array(weights), "VEC4"))
      .setMaterial(
        document
          .createMaterial("skin")
          .setBaseColorFactor([0.7, 0.4, 0.3, 1])
          .setMetallicFactor(0)
          .setDoubleSided(true),
      );
    const elbow = document
      .createNode("elbow")
      .setTranslation([0, 1.5, 0])
      .setRotation([0, 0, Math.SQRT1_2 * 0.9, Math.sqrt(1 - 0.405)]);
    const shoulder = document.createNode("shoulder").addChild(elbow);
    const inverse = new Float32Array(32);
    for (const at of [0, 5, 10, 15, 16, 21, 26, 31]) inverse[at] = 1;
    inverse[29] = -1.5;
    const skin = document
      .createSkin("skin")
      .addJoint(shoulder)
      .addJoint(elbow)
      .setInverseBindMatrices(accessor(inverse, "MAT4"));
    const mesh = document.createMesh("arm").addPrimitive(made);
    // glTF ignores the position of a skinned mesh's node.
    scene
      .addChild(shoulder)
      .addChild(document.createNode("arm").setMesh(mesh).setSkin(skin).setTranslation([9, 9, 9]));
    return toGlb(document);
  },
  "morphed box": async () => {
    const { document, add, accessor } = blankModel();
    const shape = box(1, 1, 1, false);
    const { primitive, mesh } = add(shape, RED);
    const moved = shape.positions.map((value, at) => (at % 3 === 1 && value > 0 ? 1.5 : 0));
    primitive.addTarget(
      document
        .createPrimitiveTarget("taller")
        .setAttribute("POSITION", accessor(new Float32Array(moved), "VEC3")),
    );
    mesh.setWeights([0.6]);
    return toGlb(document);
  },
  draco: async () => {
    const { document, add } = blankModel();
    add(knot(), [0.7, 0.5, 0.1, 1]);
    document.createExtension(KHRDracoMeshCompression).setRequired(true);
    return toGlb(document);
  },
  "meshopt and quantized": async () => {
    const { document, add, accessor } = blankModel();
    const shape = knot();
    const { primitive, node } = add(shape, [0.1, 0.5, 0.3, 1]);
    document.createExtension(KHRMeshQuantization).setRequired(true);
    const packed = new Int16Array(shape.positions.map((value) => Math.round((value / 4) * 32767)));
    primitive.setAttribute("POSITION", accessor(packed as never, "VEC3").setNormalized(true));
    const turned = new Int8Array((shape.normals ?? []).map((value) => Math.round(value * 127)));
    primitive.setAttribute("NORMAL", accessor(turned as never, "VEC3").setNormalized(true));
    node.setScale([4, 4, 4]);
    document
      .createExtension(EXTMeshoptCompression)
      .setRequired(true)
      .setEncoderOptions({ method: EXTMeshoptCompression.EncoderMethod.FILTER });
    return toGlb(document);
  },
  "instanced boxes": async () => {
    const { document, add, accessor } = blankModel();
    const { node } = add(box(0.3, 0.3, 0.3), RED);
    const [moved, turned, sizes]: [number[], number[], number[]] = [[], [], []];
    for (let n = 0; n < 27; n++) {
      moved.push((n % 3) - 1, (Math.floor(n / 3) % 3) - 1, Math.floor(n / 9) - 1);
      turned.push(0, Math.sin(n / 4), 0, Math.cos(n / 4));
      sizes.push(1, 0.5 + n / 27, 1);
    }
    const extension = document.createExtension(EXTMeshGPUInstancing).setRequired(true);
    node.setExtension(
      "EXT_mesh_gpu_instancing",
      extension
        .createInstancedMesh()
        .setAttribute("TRANSLATION", accessor(new Float32Array(moved), "VEC3"))
        .setAttribute("ROTATION", accessor(new Float32Array(turned), "VEC4"))
        .setAttribute("SCALE", accessor(new Float32Array(sizes), "VEC3")),
    );
    return toGlb(document);
  },
  huge: async () => {
    const { document, add } = blankModel();
    add(knot(), RED).node.setScale([1e7, 1e7, 1e7]).setTranslation([3e7, -5e7, 2e7]);
    return toGlb(document);
  },
  tiny: async () => {
    const { document, add } = blankModel();
    add(knot(), RED).node.setScale([1e-6, 1e-6, 1e-6]);
    return toGlb(document);
  },
  mirrored: async () => {
    const { document, add } = blankModel();
    add(knot(), [0.5, 0.2, 0.6, 1]).node.setScale([-1, 1.5, 1]).setRotation([0.2, 0.3, 0.1, 0.927]);
    return toGlb(document);
  },
  "several scenes and a tree of nodes": async () => {
    const { document, scene, add } = blankModel();
    const trunk = add(box(0.2, 1, 0.2), [0.35, 0.2, 0.1, 1]).node;
    for (let n = 0; n < 6; n++) {
      const { node } = add(box(0.15, 0.15, 0.8), [0.1, 0.5, 0.1, 1]);
      scene.removeChild(node);
      const angle = n * 0.5;
      trunk.addChild(
        node.setTranslation([0, -0.6 + n * 0.3, 0]).setRotation([0, Math.sin(angle), 0, Math.cos(angle)]),
      );
    }
    const { node } = add(box(50, 50, 50));
    scene.removeChild(node);
    document.createScene("not shown").addChild(node);
    document.getRoot().setDefaultScene(scene);
    return toGlb(document);
  },
  "a flat sheet of strips": async () => {
    const { document, scene, accessor } = blankModel();
    const points: number[] = [];
    for (let n = 0; n <= 40; n++)
      points.push(n / 10 - 2, -1, Math.sin(n / 5) / 3, n / 10 - 2, 1, Math.sin(n / 5) / 3);
    const strip = document
      .createPrimitive()
      .setMode(Primitive.Mode["TRIANGLE_STRIP"] as 5)
      .setAttribute("POSITION", accessor(new Float32Array(points), "VEC3"))
      .setMaterial(
        document.createMaterial("cloth").setBaseColorFactor([0.6, 0.1, 0.3, 1]).setDoubleSided(true),
      );
    scene.addChild(document.createNode("sheet").setMesh(document.createMesh("sheet").addPrimitive(strip)));
    return toGlb(document);
  },
};
