import type { Eye } from "./camera";
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

type Texture = NonNullable<Surface["base"]>;

/** Colours of one view's triangles, with attributes that are straight in space, not in the picture. */
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

/** The triangle at hand, and the place in it. */
type Place = {
  corners: { i: number; j: number; k: number };
  /** The shares of its corners at the place, and its area, in the picture; and the shares in space. */
  inPicture: [number, number, number, number];
  inSpace: [number, number, number];
  take(triangle: number, px: number, py: number): Surface;
  /** An attribute at the place, of which each vertex has `size` numbers. */
  mixed(from: Float32Array, size: number, at: number): number;
  stretchAt(uvs: Float32Array, s: number, t: number): number;
};

/** Finds places in a view's triangles: one record for all of them, since this runs for every pixel. */
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
    return surfaces[surfaceOf[triangle]!]!; // made together
  }

  /** Shares in the picture to shares in space. */
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

  /** How much of the texture, of its whole area, one pixel shows here; stretched ones at most four times as long as wide. */
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

/** Directions at a place, as the camera has them: of the surface, on the side that is seen, and to the eye. */
function directionsAt(place: Place, { positions, normals }: Scene, eye: Eye) {
  const { corners, inPicture, inSpace, mixed } = place;
  const [r, u, b] = [eye.right, eye.up, eye.back];
  const normal: Direction = { x: 0, y: 0, z: 0 };
  const sight: Direction = { x: 0, y: 0, z: 0 };
  const p = (vertex: number, axis: number) => positions[vertex * 3 + axis]!;

  /** Sets `normal`. */
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
    // Seen from behind: rows count downwards.
    const side = (length > 0 ? 1 / length : 0) * (inPicture[3] > 0 ? -1 : 1);
    normal.x = (nx * r[0] + ny * r[1] + nz * r[2]) * side;
    normal.y = (nx * u[0] + ny * u[1] + nz * u[2]) * side;
    normal.z = (nx * b[0] + ny * b[1] + nz * b[2]) * side;
  }

  /** Sets `sight`. */
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

/** What a surface is made of at a place, by its own values, its vertices' colours and its textures. */
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

  /** Multiplies `stuff` and `glow` by what the textures say, and returns their opacity. */
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

  /** The spot, with as many texels as it shows of this texture. */
  function over(texture: Texture, stretch: number) {
    spot.footprint = stretch * texelsOf(texture);
    return spot;
  }

  return { stuff, glow, setStuff };
}

/** The opacity at a place alone, for what is cut out. */
function opacityOf({ take, mixed, stretchAt }: Place, { uvs, colors }: Scene): Shader["opacity"] {
  /** Of the triangle whose cut-outs are at hand: how many texels a sample shows, where it was asked for first. */
  let [cutting, cutStretch] = [-1, 0];

  return (triangle, px, py) => {
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
  };
}

function texelsOf({ texture }: Texture): number {
  const largest = texture.levels[0];
  return largest ? largest.width * largest.height : 1;
}
