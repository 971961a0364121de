import type { Eye } from "./camera";
import type { Scene } from "./scene";

/** Samples of a pixel in each direction, so that coverage counts in sixteenths. */
export const SAMPLES = 4;
/** Steps of a sample. Vertex positions are whole steps, so that triangles that share an edge neither overlap nor leave a gap. */
export const STEPS = 32;
export const STEPS_BITS = 5;

/** A scene as one camera sees it. No vertex is behind the camera, because the camera is outside the scene. */
export type Projection = {
  eye: Eye;
  width: number;
  height: number;
  /** Vertex positions in the picture, in steps of samples. */
  x: Int32Array;
  y: Int32Array;
  /** One over the distance along the view, which changes linearly over a triangle in the picture. */
  near: Float64Array;
};

export function project(scene: Scene, eye: Eye, width: number, height: number): Projection {
  const { positions, vertexCount } = scene;
  const [x, y] = [new Int32Array(vertexCount), new Int32Array(vertexCount)];
  const near = new Float64Array(vertexCount);
  const [r, u, b] = [eye.right, eye.up, eye.back];
  const [ex, ey, ez] = eye.position;
  const [halfX, halfY] = [(width * SAMPLES * STEPS) / 2, (height * SAMPLES * STEPS) / 2];
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    const at = vertex * 3;
    const dx = positions[at]! - ex;
    const dy = positions[at + 1]! - ey;
    const dz = positions[at + 2]! - ez;
    const inverse = -1 / (dx * b[0] + dy * b[1] + dz * b[2]);
    near[vertex] = inverse;
    x[vertex] = Math.round(halfX + (((dx * r[0] + dy * r[1] + dz * r[2]) * inverse) / eye.tanX) * halfX);
    y[vertex] = Math.round(halfY - (((dx * u[0] + dy * u[1] + dz * u[2]) * inverse) / eye.tanY) * halfY);
  }
  return { eye, width, height, x, y, near };
}
