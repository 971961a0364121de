import type { Eye } from "./camera";
import { type Lit, light, PLAIN, type Stuff, soften } from "./light";
import { type Projection, SAMPLES, STEPS } from "./project";
import type { Style } from "./request";
import { sampleColor, sampleNumbers, sampleOpacity, type Texel } from "./sample";
import type { Scene, Surface } from "./scene";

/** A color as linear light, not multiplied by its opacity. */
export type Shade = { red: number; green: number; blue: number; alpha: number };

export type Shader = {
  /** Writes the color of a triangle at a place inside it to `out`; x and y are in steps of samples. */
  shade(triangle: number, x: number, y: number, out: Shade): void;
  /** Opacity of one sample alone, for cut-out surfaces. */
  opacity(triangle: number, x: number, y: number): number;
};

/** Width of a pixel in steps. */
const PIXEL = SAMPLES * STEPS;
/** Cosine of some 40 degrees: a computed normal that is further from its face belongs to an edge. */
const CREASE = 0.766;
/** Factor of a texture's footprint: a texture looks right if it is read a little sharper than the pixel's area requires. */
const SHARPEN = 0.7;

type Texture = NonNullable<Surface["base"]>;

/** Shades one view's triangles. Attributes are interpolated linearly in space, not in the picture. */
export function shaderOf(scene: Scene, projection: Projection, style: Style): Shader {
  const place = placeOf(scene, projection);
  const { take } = place;
  const { normal, sight, setNormal, setSight } = directionsAt(place, scene, projection.eye);
  const { stuff, glow, setStuff } = stuffAt(place, scene);
  const plain = PLAIN[style];
  const lit: Lit = { red: 0, green: 0, blue: 0 };

  function shade(triangle: number, px: number, py: number, out: Shade): void {
    const surface = take(triangle, px, py);
    const alpha = setStuff(surface);
    out.alpha = surface.alphaMode === "BLEND" ? Math.min(1, Math.max(0, alpha)) : 1;
    if (plain) {
      [stuff.red, stuff.green, stuff.blue, stuff.roughness] = plain;
      stuff.metallic = glow.red = glow.green = glow.blue = 0;
    } else if (style === "flat" || surface.isUnlit) {
      out.red = stuff.red;
      out.green = stuff.green;
      out.blue = stuff.blue;
      return;
    }
    stuff.metallic = Math.min(1, Math.max(0, stuff.metallic));
    stuff.roughness = Math.min(1, Math.max(0.05, stuff.roughness));
    setNormal(surface);
    setSight();
    light(stuff, normal, sight, lit);
    out.red = soften(lit.red + glow.red);
    out.green = soften(lit.green + glow.green);
    out.blue = soften(lit.blue + glow.blue);
  }

  return { shade, opacity: opacityOf(place, scene) };
}

/** The current triangle and the place in it. */
type Place = {
  corners: { i: number; j: number; k: number };
  /** Shares of the triangle's corners at the place, and then its area, all in the picture; `inSpace` has the shares in space. */
  inPicture: [number, number, number, number];
  inSpace: [number, number, number];
  take(triangle: number, px: number, py: number): Surface;
  /** Interpolates the number `at` of an attribute that has `size` numbers a vertex. */
  mixed(from: Float32Array, size: number, at: number): number;
  stretchAt(uvs: Float32Array, s: number, t: number): number;
};

/** Locates places in a view's triangles. One record serves all of them, because this runs for every pixel. */
function placeOf({ indices, surfaceOf, surfaces }: Scene, { x, y, near }: Projection): Place {
  const corners = { i: 0, j: 0, k: 0 };
  const inPicture: Place["inPicture"] = [0, 0, 0, 0];
  const inSpace: Place["inSpace"] = [0, 0, 0];

  function take(triangle: number, px: number, py: number): Surface {
    corners.i = indices[triangle * 3]!;
    corners.j = indices[triangle * 3 + 1]!;
    corners.k = indices[triangle * 3 + 2]!;
    const [ix, iy] = [x[corners.i]! - px, y[corners.i]! - py];
    const [jx, jy] = [x[corners.j]! - px, y[corners.j]! - py];
    const [kx, ky] = [x[corners.k]! - px, y[corners.k]! - py];
    inPicture[3] = (jx - ix) * (ky - iy) - (kx - ix) * (jy - iy);
    inPicture[0] = (jx * ky - kx * jy) / inPicture[3];
    inPicture[1] = (kx * iy - ix * ky) / inPicture[3];
    inPicture[2] = 1 - inPicture[0] - inPicture[1];
    straighten(inPicture[0], inPicture[1], inPicture[2]);
    return surfaces[surfaceOf[triangle]!]!; // both lists are made together
  }

  /** Converts shares in the picture to shares in space. */
  function straighten(a: number, c: number, d: number): void {
    const [pi, pj, pk] = [a * near[corners.i]!, c * near[corners.j]!, d * near[corners.k]!];
    const sum = pi + pj + pk;
    inSpace[0] = pi / sum;
    inSpace[1] = pj / sum;
    inSpace[2] = pk / sum;
  }

  function mixed(from: Float32Array, size: number, at: number): number {
    const { i, j, k } = corners;
    return (
      inSpace[0] * from[i * size + at]! +
      inSpace[1] * from[j * size + at]! +
      inSpace[2] * from[k * size + at]!
    );
  }

  /**
   * Share of the texture's area that one pixel shows here. A stretched pixel counts at least as a square of a quarter of its
   * length.
   */
  function stretchAt(from: Float32Array, s: number, t: number): number {
    const { i, j, k } = corners;
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

  return { corners, inPicture, inSpace, take, mixed, stretchAt };
}

type Direction = { x: number; y: number; z: number };

/** Directions at a place in the camera's axes: the normal on the visible side of the surface, and the direction to the eye. */
function directionsAt(place: Place, { positions, normals }: Scene, eye: Eye) {
  const { corners, inPicture, inSpace, mixed } = place;
  const [r, u, b] = [eye.right, eye.up, eye.back];
  const normal: Direction = { x: 0, y: 0, z: 0 };
  const sight: Direction = { x: 0, y: 0, z: 0 };
  const p = (vertex: number, axis: number) => positions[vertex * 3 + axis]!;

  /** Sets `normal` to the unit normal on the visible side of the surface. */
  function setNormal({ hasMadeNormals }: Surface): void {
    const { i, j, k } = corners;
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
    // Rows count downward, so a positive area means that the triangle is seen from behind.
    const side = (length > 0 ? 1 / length : 0) * (inPicture[3] > 0 ? -1 : 1);
    normal.x = (nx * r[0] + ny * r[1] + nz * r[2]) * side;
    normal.y = (nx * u[0] + ny * u[1] + nz * u[2]) * side;
    normal.z = (nx * b[0] + ny * b[1] + nz * b[2]) * side;
  }

  /** Sets `sight` to the unit vector from the surface to the eye. */
  function setSight(): void {
    const dx = eye.position[0] - mixed(positions, 3, 0);
    const dy = eye.position[1] - mixed(positions, 3, 1);
    const dz = eye.position[2] - mixed(positions, 3, 2);
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    sight.x = (dx * r[0] + dy * r[1] + dz * r[2]) / length;
    sight.y = (dx * u[0] + dy * u[1] + dz * u[2]) / length;
    sight.z = (dx * b[0] + dy * b[1] + dz * b[2]) / length;
  }

  return { normal, sight, setNormal, setSight };
}

/** Material at a place, from the surface's own values, its vertices' colors and its textures. */
function stuffAt({ mixed, stretchAt }: Place, { uvs, colors }: Scene) {
  const stuff: Stuff = { red: 0, green: 0, blue: 0, metallic: 0, roughness: 0 };
  const glow = { red: 0, green: 0, blue: 0 };
  const texel: Texel = { red: 0, green: 0, blue: 0, alpha: 0 };
  const spot = { u: 0, v: 0, footprint: 0 };

  /** Sets `stuff` and `glow`, and returns the opacity. */
  function setStuff(surface: Surface): number {
    let alpha = surface.baseColor[3];
    [stuff.red, stuff.green, stuff.blue] = surface.baseColor;
    [glow.red, glow.green, glow.blue] = surface.emissive;
    stuff.metallic = surface.metallic;
    stuff.roughness = surface.roughness;
    if (colors && surface.hasColors) {
      stuff.red *= mixed(colors, 4, 0);
      stuff.green *= mixed(colors, 4, 1);
      stuff.blue *= mixed(colors, 4, 2);
      alpha *= mixed(colors, 4, 3);
    }
    return uvs ? alpha * applyTextures(surface, uvs) : alpha;
  }

  /** Multiplies `stuff` and `glow` by the textures' values, and returns the textures' opacity. */
  function applyTextures({ base, glow: glowing, metalRough }: Surface, uvs: Float32Array): number {
    if (!base && !glowing && !metalRough) return 1;
    spot.u = mixed(uvs, 2, 0);
    spot.v = mixed(uvs, 2, 1);
    const stretch = stretchAt(uvs, spot.u, spot.v);
    let alpha = 1;
    if (base) {
      sampleColor(base, over(base, stretch), texel);
      stuff.red *= texel.red;
      stuff.green *= texel.green;
      stuff.blue *= texel.blue;
      alpha = texel.alpha;
    }
    if (metalRough) {
      sampleNumbers(metalRough, over(metalRough, stretch), texel);
      stuff.roughness *= texel.green;
      stuff.metallic *= texel.blue;
    }
    if (glowing) {
      sampleColor(glowing, over(glowing, stretch), texel);
      glow.red *= texel.red;
      glow.green *= texel.green;
      glow.blue *= texel.blue;
    }
    return alpha;
  }

  /** Sets the spot's footprint in texels of this texture. */
  function over(texture: Texture, stretch: number) {
    spot.footprint = stretch * texelsOf(texture);
    return spot;
  }

  return { stuff, glow, setStuff };
}

/** Opacity at a place alone, for cut-out surfaces. */
function opacityOf({ take, mixed, stretchAt }: Place, { uvs, colors }: Scene): Shader["opacity"] {
  /** The current triangle, and the texels that one of its samples shows, as measured at the first of them. */
  let [cutting, cutStretch] = [-1, 0];

  return (triangle, px, py) => {
    const surface = take(triangle, px, py);
    let alpha = surface.baseColor[3];
    if (colors && surface.hasColors) alpha *= mixed(colors, 4, 3);
    if (!uvs || !surface.base) return alpha;
    const [s, t] = [mixed(uvs, 2, 0), mixed(uvs, 2, 1)];
    if (cutting !== triangle) {
      // A sample covers only a part of its pixel, and a cut-out that is blurred more would grow thinner.
      cutting = triangle;
      cutStretch = (stretchAt(uvs, s, t) * texelsOf(surface.base)) / (SAMPLES * SAMPLES);
    }
    return alpha * sampleOpacity(surface.base, s, t, cutStretch);
  };
}

function texelsOf({ texture }: Texture): number {
  const largest = texture.levels[0];
  return largest ? largest.width * largest.height : 1;
}
