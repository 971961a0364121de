/** What a picture can be asked to look like. The first view of a list is drawn first. */
export const VIEWS = ["front", "three-quarter", "right", "back", "left", "top", "bottom"] as const;
export const STANDARD_VIEWS = ["front", "three-quarter", "right", "back", "left"] as const;
export const FRAMINGS = ["fit", "tight"] as const;
export const STYLES = ["material", "neutral", "clay", "flat"] as const;
export const BACKGROUNDS = ["light", "dark", "transparent"] as const;

export type View = (typeof VIEWS)[number];
export type Framing = (typeof FRAMINGS)[number];
export type Style = (typeof STYLES)[number];
export type Background = (typeof BACKGROUNDS)[number];

export type RenderRequest = {
  views: View[];
  /** All views on one labelled sheet beside them. */
  sheet: boolean;
  width: number;
  height: number;
  framing: Framing;
  style: Style;
  background: Background;
};

/** The renderer, for manifests: the same version draws the same bytes on every machine. */
export const RENDERER = { name: "capstan-raster", version: "1.0.0" } as const;

export type Vector = [x: number, y: number, z: number];

/** Where a view was seen from, in the units and axes of the file. */
export type Camera = {
  view: View;
  position: Vector;
  target: Vector;
  up: Vector;
  /** Half the height, and half the width, of what is seen at distance 1. */
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
  /** What a person who reviews the model should know. */
  warnings: string[];
};

export type RenderedView = { view: View; png: Uint8Array; camera: Camera; coverage: number };
export type Rendered = {
  views: RenderedView[];
  sheet: { png: Uint8Array; width: number; height: number } | null;
  mesh: MeshFacts;
  /** What wrote the pictures, and what read the textures. */
  writtenBy: Record<string, string>;
};

export type RenderTask = { bytes: Uint8Array; request: RenderRequest };

/** What the worker answers; a refusal is about the file, anything else that goes wrong is an error of ours. */
export type Answer = { state: "rendered"; rendered: Rendered } | { state: "refused"; message: string };

/** Why the file cannot be drawn, for its sender. */
export class Refused extends Error {
  override readonly name = "Refused";
}
