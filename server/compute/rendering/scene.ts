import type { Texture } from "./gltf/textures";
import type { MeshFacts, Vector } from "./request";

/** How a texture is read: its picture, and what lies beyond its edges. */
export type TextureUse = {
  texture: Texture;
  wrapS: Wrap;
  wrapT: Wrap;
  /** Texels stay squares when they are large. */
  isNearest: boolean;
};
export type Wrap = "repeat" | "mirror" | "clamp";

/** What a triangle is made of. */
export type Surface = {
  alphaMode: "OPAQUE" | "MASK" | "BLEND";
  alphaCutoff: number;
  doubleSided: boolean;
  isUnlit: boolean;
  /** Light, not sRGB; the last is opacity. */
  baseColor: readonly [number, number, number, number];
  emissive: readonly [number, number, number];
  metallic: number;
  roughness: number;
  base: TextureUse | null;
  glow: TextureUse | null;
  metalRough: TextureUse | null;
  hasColors: boolean;
  /** The file has no normals: smooth ones were made, and edges stay sharp where the face turns away from them. */
  hasMadeNormals: boolean;
};

/** All that is drawn, in one space: the middle of the bounding box at 0, its half diagonal 1. */
export type Scene = {
  vertexCount: number;
  triangleCount: number;
  positions: Float32Array;
  normals: Float32Array;
  /** Null: nothing is textured. */
  uvs: Float32Array | null;
  /** Light and opacity, four a vertex; null: no vertex has a colour. */
  colors: Float32Array | null;
  indices: Uint32Array;
  surfaceOf: Uint16Array;
  surfaces: Surface[];
  /** What 0 and 1 of this space are in the file's. */
  center: Vector;
  radius: number;
  mesh: MeshFacts;
};
