import { type Lit, light, PLAIN, type Stuff, soften } from "./light";
import { type Projection, SAMPLES, STEPS } from "./project";
import type { Style } from "./request";
import { sampleColor, sampleNumbers, sampleOpacity, type Texel } from "./sample";
import type { Scene, Surface } from "./scene";

/** A colour as light with its opacity, not multiplied by it. */
export type Shade = { red: number; green: number; blue: number; alpha: number };

export type Shader = {
  /** The colour of a triangle at a place of the picture inside it, in steps of samples. */
  shade(triangle: number, x: number, y: number, out: Shade): void;
  /** The opacity alone, of one sample: for what is cut out. */
  opacity(triangle: number, x: number, y: number): number;
};

/** Steps of one pixel. */
const PIXEL = SAMPLES * STEPS;
/** A made normal further from its face than some 40 degrees belongs to an edge. */
const CREASE = 0.766;
/** One shade covers a whole pixel: a little sharper than its area asks for looks right. */
const SHARPEN = 0.7;

/** Colours of one view's triangles, with attributes that are straight in space, not in the picture. */
export function shaderOf(scene: Scene, { eye, x, y, near }: Projection, style: Style): Shader {
  const { positions, normals, uvs, colors, indices, surfaceOf, surfaces } = scene;
  const [r, u, b] = [eye.right, eye.up, eye.back];
  const plain = PLAIN[style];
  const texel: Texel = { red: 0, green: 0, blue: 0, alpha: 0 };
  const stuff: Stuff = { red: 0, green: 0, blue: 0, metallic: 0, roughness: 0 };
  const lit: Lit = { red: 0, green: 0, blue: 0 };
  const normal = { x: 0, y: 0, z: 0 };
  const sight = { x: 0, y: 0, z: 0 };
  /** The triangle at hand: its corners; the shares of them at the place at hand, and its area, in the picture; and the shares in space. */
  let [i, j, k] = [0, 0, 0];
  const inPicture: [number, number, number, number] = [0, 0, 0, 0];
  const inSpace: [number, number, number] = [0, 0, 0];

  function take(triangle: number, px: number, py: number): Surface {
    i = indices[triangle * 3]!;
    j = indices[triangle * 3 + 1]!;
    k = indices[triangle * 3 + 2]!;
    const [ix, iy] = [x[i]! - px, y[i]! - py];
    const [jx, jy] = [x[j]! - px, y[j]! - py];
    const [kx, ky] = [x[k]! - px, y[k]! - py];
    inPicture[3] = (jx - ix) * (ky - iy) - (kx - ix) * (jy - iy);
    inPicture[0] = (jx * ky - kx * jy) / inPicture[3];
    inPicture[1] = (kx * iy - ix * ky) / inPicture[3];
    inPicture[2] = 1 - inPicture[0] - inPicture[1];
    straighten(inPicture[0], inPicture[1], inPicture[2]);
    return surfaces[surfaceOf[triangle]!]!; // made together
  }

  /** Shares in the picture to shares in space. */
  function straighten(a: number, c: number, d: number): void {
    const [pi, pj, pk] = [a * near[i]!, c * near[j]!, d * near[k]!];
    const sum = pi + pj + pk;
    inSpace[0] = pi / sum;
    inSpace[1] = pj / sum;
    inSpace[2] = pk / sum;
  }

  const mixed = (from: Float32Array, size: number, at: number) =>
    inSpace[0] * from[i * size + at]! + inSpace[1] * from[j * size + at]! + inSpace[2] * from[k * size + at]!;

  function shade(triangle: number, px: number, py: number, out: Shade): void {
    const surface = take(triangle, px, py);
    const { baseColor, base, glow, metalRough } = surface;
    let [red, green, blue, alpha] = baseColor;
    let [metallic, roughness] = [surface.metallic, surface.roughness];
    let [glowRed, glowGreen, glowBlue] = surface.emissive;
    if (colors && surface.hasColors) {
      red *= mixed(colors, 4, 0);
      green *= mixed(colors, 4, 1);
      blue *= mixed(colors, 4, 2);
      alpha *= mixed(colors, 4, 3);
    }
    setNormal(surface);
    setSight();
    if (uvs && (base || glow || metalRough)) {
      const [s, t] = [mixed(uvs, 2, 0), mixed(uvs, 2, 1)];
      const stretch = stretchAt(uvs, s, t);
      if (base) {
        sampleColor(base, s, t, stretch * texelsOf(base), texel);
        red *= texel.red;
        green *= texel.green;
        blue *= texel.blue;
        alpha *= texel.alpha;
      }
      if (metalRough) {
        sampleNumbers(metalRough, s, t, stretch * texelsOf(metalRough), texel);
        roughness *= texel.green;
        metallic *= texel.blue;
      }
      if (glow) {
        sampleColor(glow, s, t, stretch * texelsOf(glow), texel);
        glowRed *= texel.red;
        glowGreen *= texel.green;
        glowBlue *= texel.blue;
      }
    }
    out.alpha = surface.alphaMode === "BLEND" ? Math.min(1, Math.max(0, alpha)) : 1;
    if (plain) [red, green, blue, roughness, metallic, glowRed, glowGreen, glowBlue] = [...plain, 0, 0, 0, 0];
    else if (style === "flat" || surface.isUnlit) {
      out.red = red;
      out.green = green;
      out.blue = blue;
      return;
    }
    stuff.red = red;
    stuff.green = green;
    stuff.blue = blue;
    stuff.metallic = Math.min(1, Math.max(0, metallic));
    stuff.roughness = Math.min(1, Math.max(0.05, roughness));
    light(stuff, normal, sight, lit);
    out.red = soften(lit.red + glowRed);
    out.green = soften(lit.green + glowGreen);
    out.blue = soften(lit.blue + glowBlue);
  }

  /** How much of the texture, of its whole area, one pixel shows here; stretched ones at most four times as long as wide. */
  function stretchAt(from: Float32Array, s: number, t: number): number {
    const [iy, jy, ky] = [y[i]!, y[j]!, y[k]!];
    const [ix, jx, kx] = [x[i]!, x[j]!, x[k]!];
    const step = PIXEL / inPicture[3];
    const [ai, aj] = [(jy - ky) * step, (ky - iy) * step];
    straighten(inPicture[0] + ai, inPicture[1] + aj, inPicture[2] - ai - aj);
    const [su, sv] = [mixed(from, 2, 0) - s, mixed(from, 2, 1) - t];
    const [bi, bj] = [(kx - jx) * step, (ix - kx) * step];
    straighten(inPicture[0] + bi, inPicture[1] + bj, inPicture[2] - bi - bj);
    const [tu, tv] = [mixed(from, 2, 0) - s, mixed(from, 2, 1) - t];
    straighten(inPicture[0], inPicture[1], inPicture[2]);
    const [along, across] = [su * su + sv * sv, tu * tu + tv * tv];
    return Math.max(Math.sqrt(along * across), Math.max(along, across) / 16) * SHARPEN;
  }

  /** The normal in the camera's directions, on the side that is seen. */
  function setNormal({ hasMadeNormals }: Surface): void {
    const p = (vertex: number, axis: number) => positions[vertex * 3 + axis]!;
    let [nx, ny, nz] = [mixed(normals, 3, 0), mixed(normals, 3, 1), mixed(normals, 3, 2)];
    let length = Math.sqrt(nx * nx + ny * ny + nz * nz);
    if (hasMadeNormals || !(length > 1e-6)) {
      const [ux, uy, uz] = [p(j, 0) - p(i, 0), p(j, 1) - p(i, 1), p(j, 2) - p(i, 2)];
      const [vx, vy, vz] = [p(k, 0) - p(i, 0), p(k, 1) - p(i, 1), p(k, 2) - p(i, 2)];
      let [fx, fy, fz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
      const size = Math.sqrt(fx * fx + fy * fy + fz * fz);
      if (size > 0) [fx, fy, fz] = [fx / size, fy / size, fz / size];
      [nx, ny, nz] = [0, 0, 0];
      for (let corner = 0; corner < 3; corner++) {
        const vertex = corner === 0 ? i : corner === 1 ? j : k;
        const share = corner === 0 ? inSpace[0] : corner === 1 ? inSpace[1] : inSpace[2];
        const [cx, cy, cz] = [normals[vertex * 3]!, normals[vertex * 3 + 1]!, normals[vertex * 3 + 2]!];
        const isEdge = cx * fx + cy * fy + cz * fz < CREASE;
        nx += share * (isEdge ? fx : cx);
        ny += share * (isEdge ? fy : cy);
        nz += share * (isEdge ? fz : cz);
      }
      length = Math.sqrt(nx * nx + ny * ny + nz * nz);
    }
    // Seen from behind: rows count downwards.
    const side = (length > 0 ? 1 / length : 0) * (inPicture[3] > 0 ? -1 : 1);
    normal.x = (nx * r[0] + ny * r[1] + nz * r[2]) * side;
    normal.y = (nx * u[0] + ny * u[1] + nz * u[2]) * side;
    normal.z = (nx * b[0] + ny * b[1] + nz * b[2]) * side;
  }

  function setSight(): void {
    const dx = eye.position[0] - mixed(positions, 3, 0);
    const dy = eye.position[1] - mixed(positions, 3, 1);
    const dz = eye.position[2] - mixed(positions, 3, 2);
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    sight.x = (dx * r[0] + dy * r[1] + dz * r[2]) / length;
    sight.y = (dx * u[0] + dy * u[1] + dz * u[2]) / length;
    sight.z = (dx * b[0] + dy * b[1] + dz * b[2]) / length;
  }

  /** Of the triangle whose cut-outs are at hand: how many texels a sample shows, where it was asked for first. */
  let [cutting, cutStretch] = [-1, 0];

  function opacity(triangle: number, px: number, py: number): number {
    const surface = take(triangle, px, py);
    let alpha = surface.baseColor[3];
    if (colors && surface.hasColors) alpha *= mixed(colors, 4, 3);
    if (!uvs || !surface.base) return alpha;
    const [s, t] = [mixed(uvs, 2, 0), mixed(uvs, 2, 1)];
    if (cutting !== triangle) {
      // A sample covers a part of its pixel only; a cut-out that is blurred more would grow thinner.
      cutting = triangle;
      cutStretch = (stretchAt(uvs, s, t) * texelsOf(surface.base)) / (SAMPLES * SAMPLES);
    }
    return alpha * sampleOpacity(surface.base, s, t, cutStretch);
  }

  return { shade, opacity };
}

function texelsOf({ texture }: NonNullable<Surface["base"]>): number {
  const largest = texture.levels[0];
  return largest ? largest.width * largest.height : 1;
}
