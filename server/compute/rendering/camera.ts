import { mapThree } from "../three";
import type { Camera, CameraView, Framing, Vector } from "./request";
import { CAMERA_VIEWS } from "./request";
import type { Scene } from "./scene";

/** A camera in the scene's own space. In its picture (0, 0) is straight ahead and 1 is the edge. */
export type Eye = {
  view: CameraView;
  position: Vector;
  right: Vector;
  up: Vector;
  /** Direction from the scene to the camera. */
  back: Vector;
  tanX: number;
  tanY: number;
};

/** Direction to the camera, and up. The front of a glTF model looks along +Z; its right view is from +X. */
const DIRECTIONS: Record<CameraView, { back: Vector; up: Vector }> = {
  front: { back: [0, 0, 1], up: [0, 1, 0] },
  "three-quarter": { back: [0.7, 0.45, 1], up: [0, 1, 0] },
  right: { back: [1, 0, 0], up: [0, 1, 0] },
  back: { back: [0, 0, -1], up: [0, 1, 0] },
  left: { back: [-1, 0, 0], up: [0, 1, 0] },
  top: { back: [0, 1, 0], up: [0, 0, -1] },
  bottom: { back: [0, -1, 0], up: [0, 0, 1] },
};
/** Half the extent that the picture's smaller edge sees at distance 1: a field of view of some 25 degrees. */
const TAN = 0.22;
const MARGINS: Record<Framing, number> = { fit: 0.1, tight: 0.02 };
/** Least distance to the nearest vertex, as a part of the scene's depth: close-ups of long things are distorted. */
const NEAREST = 0.6;

const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Vector): Vector => {
  const length = Math.sqrt(dot(a, a));
  return [a[0] / length, a[1] / length, a[2] / length];
};

/**
 * Places cameras that see every vertex. `tight`: each as near as possible. `fit`: all at the distance that the widest of the
 * seven views needs, so that views have one scale and none depends on which others are requested.
 */
export function placeCameras(
  scene: Scene,
  views: CameraView[],
  { width, height, framing }: { width: number; height: number; framing: Framing },
): Eye[] {
  const smaller = Math.min(width, height);
  const [tanX, tanY] = [(TAN * width) / smaller, (TAN * height) / smaller];
  const room = 1 - MARGINS[framing];
  const asked = framing === "fit" ? CAMERA_VIEWS : views;
  const seen = new Map(asked.map((view) => [view, extents(scene, view, tanX * room, tanY * room)]));
  const farthest = Math.max(...[...seen.values()].map(({ distance }) => distance));
  return views.map((view) => {
    const { right, up, back, x, y, distance } = seen.get(view)!; // `asked` includes every view
    const away = framing === "fit" ? farthest : distance;
    const position = mapThree(right, (each, axis) => x * each + y * up[axis] + away * back[axis]);
    return { view, position, right, up, back, tanX, tanY };
  });
}

type Extents = { right: Vector; up: Vector; back: Vector; x: number; y: number; distance: number };

/**
 * The nearest place from which a camera has every vertex within its edges, computed exactly, but no nearer than NEAREST allows.
 */
function extents({ positions, vertexCount }: Scene, view: CameraView, tanX: number, tanY: number): Extents {
  const back = unit(DIRECTIONS[view].back);
  const right = unit(cross(DIRECTIONS[view].up, back));
  const up = cross(back, right);
  let [east, west, north, south] = [-Infinity, -Infinity, -Infinity, -Infinity];
  let [nearest, farthest] = [-Infinity, Infinity];
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    const at = vertex * 3;
    const [px, py, pz] = [positions[at]!, positions[at + 1]!, positions[at + 2]!];
    const x = px * right[0] + py * right[1] + pz * right[2];
    const y = px * up[0] + py * up[1] + pz * up[2];
    const z = px * back[0] + py * back[1] + pz * back[2];
    if (x + tanX * z > east) east = x + tanX * z;
    if (tanX * z - x > west) west = tanX * z - x;
    if (y + tanY * z > north) north = y + tanY * z;
    if (tanY * z - y > south) south = tanY * z - y;
    if (z > nearest) nearest = z;
    if (z < farthest) farthest = z;
  }
  const distance = Math.max(
    (east + west) / (2 * tanX),
    (north + south) / (2 * tanY),
    nearest + NEAREST * (nearest - farthest) + 0.01,
  );
  return { right, up, back, x: (east - west) / 2, y: (north - south) / 2, distance };
}

/** Converts a camera to the units and axes of the file. */
export function cameraOf({ center, radius }: Scene, { view, position, up, back, tanX, tanY }: Eye): Camera {
  const out = (point: Vector) => mapThree(point, (each, axis) => center[axis] + each * radius);
  const along = dot(position, back);
  return {
    view,
    position: out(position),
    target: out(mapThree(position, (each, axis) => each - along * back[axis])),
    up,
    tanHalfVertical: tanY,
    tanHalfHorizontal: tanX,
  };
}
