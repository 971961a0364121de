/** Options of a picture. Views are drawn in the order of the request. */
export const CAMERA_VIEWS = ["front", "three-quarter", "right", "back", "left", "top", "bottom"] as const;
export const STANDARD_VIEWS = ["front", "three-quarter", "right", "back", "left"] as const;
export const FRAMINGS = ["fit", "tight"] as const;
export const STYLES = ["material", "neutral", "clay", "flat"] as const;
export const BACKGROUNDS = ["light", "dark", "transparent"] as const;

export type CameraView = (typeof CAMERA_VIEWS)[number];
export type Framing = (typeof FRAMINGS)[number];
export type Style = (typeof STYLES)[number];
export type Background = (typeof BACKGROUNDS)[number];

export type RenderRequest = {
  views: CameraView[];
  /** True for an additional labelled sheet with all views. */
  sheet: boolean;
  width: number;
  height: number;
  framing: Framing;
  style: Style;
  background: Background;
};

/** The renderer as manifests name it: the same version draws the same bytes on every machine. */
export const RENDERER = { name: "capstan-raster", version: "1.0.0" } as const;

export type Vector = [x: number, y: number, z: number];

/** Camera of a view, in the units and axes of the file. */
export type Camera = {
  view: CameraView;
  position: Vector;
  target: Vector;
  up: Vector;
  /** Half the height and half the width that are seen at distance 1. */
  tanHalfVertical: number;
  tanHalfHorizontal: number;
};

export type MeshFacts = {
  triangles: number;
  vertices: number;
  meshes: number;
  primitives: number;
  materials: number;
  textures: number;
  boundingBox: { min: Vector; max: Vector };
  extensions: string[];
  /** Messages for a person who reviews the model. */
  warnings: string[];
};

export type RenderedView = { view: CameraView; png: Uint8Array; camera: Camera; coverage: number };
export type Rendered = {
  views: RenderedView[];
  sheet: { png: Uint8Array; width: number; height: number } | null;
  mesh: MeshFacts;
  /** Versions of the PNG writer and of the library that read the textures. */
  writtenBy: Record<string, string>;
};

export type RenderTask = { bytes: Uint8Array; request: RenderRequest };

/** The worker's answer. A refusal blames the file; any other failure is an error of ours. */
export type RenderingAnswer =
  | { state: "rendered"; rendered: Rendered }
  | { state: "refused"; message: string };

/** Reason why the file cannot be drawn, for its sender. */
export class Refused extends Error {
  override readonly name = "Refused";
}
