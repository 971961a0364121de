import type { Texture } from "./gltf/textures";
import type { MeshFacts, Vector } from "./request";

/** A texture with its wrapping beyond the edges and its filter. */
export type TextureUse = {
  texture: Texture;
  wrapS: Wrap;
  wrapT: Wrap;
  /** True if enlarged texels stay squares. */
  isNearest: boolean;
};
export type Wrap = "repeat" | "mirror" | "clamp";

/** Material of a triangle. */
export type Surface = {
  alphaMode: "OPAQUE" | "MASK" | "BLEND";
  alphaCutoff: number;
  doubleSided: boolean;
  isUnlit: boolean;
  /** Linear light, not sRGB; the fourth number is opacity. */
  baseColor: readonly [number, number, number, number];
  emissive: readonly [number, number, number];
  metallic: number;
  roughness: number;
  base: TextureUse | null;
  glow: TextureUse | null;
  metalRough: TextureUse | null;
  hasColors: boolean;
  /** True if the file has no normals: smooth ones were computed, and edges stay sharp where the face turns away from them. */
  hasMadeNormals: boolean;
};

/** Everything that is drawn, in one space: the middle of the bounding box is 0 and half its diagonal is 1. */
export type Scene = {
  vertexCount: number;
  triangleCount: number;
  positions: Float32Array;
  normals: Float32Array;
  /** Null if nothing is textured. */
  uvs: Float32Array | null;
  /** Light and opacity, four numbers a vertex; null if no vertex has a color. */
  colors: Float32Array | null;
  indices: Uint32Array;
  surfaceOf: Uint16Array;
  surfaces: Surface[];
  /** The file's coordinates of this space's origin, and the length of its unit. */
  center: Vector;
  radius: number;
  mesh: MeshFacts;
};
