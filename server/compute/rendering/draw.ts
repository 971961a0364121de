import { BAND_ROWS, sortIntoBands } from "./bands";
import type { Eye } from "./camera";
import { MAX_DRAW_STEPS } from "./limits";
import { type Projection, project, SAMPLES, STEPS, STEPS_BITS } from "./project";
import { Refused, type Style } from "./request";
import type { Scene } from "./scene";
import { type Shade, type Shader, shaderOf } from "./shade";

/** Linear light, four numbers a pixel: red, green and blue multiplied by opacity, then opacity. */
export type LinearPicture = { width: number; height: number; data: Float32Array };

const PIXEL_SAMPLES = SAMPLES * SAMPLES;
/** A pixel that more triangles share is colored by one triangle for each quarter. */
const MOST_SHADES = 4;

/** Steps that drawing one file has used, of `MAX_DRAW_STEPS`. */
type Work = { steps: number };

/** Cost of one triangle besides its samples. */
const TRIANGLE_STEPS = 8;
/** Cost of a sample on a transparent or cut-out surface, which may read a texture. */
const CLEAR_STEPS = 4;

/** Counts the steps of a triangle before it is drawn, so that a refusal depends on the file and the request, not on the machine. */
function spend(work: Work, perSample: number): void {
  const { left, right, top, bottom } = edges;
  work.steps += TRIANGLE_STEPS + perSample * (right - left + 1) * (bottom - top + 1);
  if (work.steps > MAX_DRAW_STEPS)
    throw new Refused(
      `Drawing the file takes more than ${MAX_DRAW_STEPS} steps: its triangles times the pixels they reach. Reduce its triangles, the views or their size.`,
    );
}

/**
 * Draws one camera's view on a transparent picture. The same scene gives the same numbers on every machine. Throws `Refused` if
 * the file's pictures together take more than `MAX_DRAW_STEPS`.
 */
export function draw(
  scene: Scene,
  eye: Eye,
  {
    width,
    height,
    style,
    work = { steps: 0 },
  }: { width: number; height: number; style: Style; work?: Work | undefined },
): LinearPicture {
  const projection = project(scene, eye, width, height);
  const { solid, clear } = sortIntoBands(scene, projection);
  const shader = shaderOf(scene, projection, style);
  const picture: LinearPicture = { width, height, data: new Float32Array(width * height * 4) };
  const band = emptyBand(width, clear.triangles.length > 0);
  const drawing: Drawing = { scene, projection, shader, band, work };
  for (let n = 0; n * BAND_ROWS < height; n++) {
    const rows = Math.min(BAND_ROWS, height - n * BAND_ROWS);
    const solids = solid.triangles.subarray(solid.starts[n], solid.starts[n + 1]);
    const clears = clear.triangles.subarray(clear.starts[n], clear.starts[n + 1]);
    if (solids.length === 0 && clears.length === 0) continue;
    band.triangle.fill(-1);
    band.near.fill(0);
    band.colors?.fill(0);
    band.top = n * BAND_ROWS;
    band.rows = rows;
    [band.left, band.right] = [width * SAMPLES, -1];
    for (const triangle of solids) cover(drawing, triangle);
    color(band, shader, picture);
    if (!band.colors || clears.length === 0) continue;
    for (const triangle of clears) veil(drawing, triangle);
    gather(band, picture);
  }
  return picture;
}

/** The samples of a band of pixel rows. */
type Band = {
  width: number;
  top: number;
  rows: number;
  /** Nearest solid triangle of each sample (-1 for none), and how near it is. */
  triangle: Int32Array;
  near: Float32Array;
  /** Color of each sample; null if the view has no transparent triangles. */
  colors: Float32Array | null;
  /** First and last column of samples that a solid triangle reached. */
  left: number;
  right: number;
};

/** The state that each triangle of a view is drawn with. */
type Drawing = { scene: Scene; projection: Projection; shader: Shader; band: Band; work: Work };

function emptyBand(width: number, hasColors: boolean): Band {
  const samples = width * BAND_ROWS * PIXEL_SAMPLES;
  return {
    width,
    top: 0,
    rows: 0,
    triangle: new Int32Array(samples),
    near: new Float32Array(samples),
    colors: hasColors ? new Float32Array(samples * 4) : null,
    left: 0,
    right: -1,
  };
}

/** Edge functions of a triangle: at a sample inside, all three are zero or more. */
const edges = {
  left: 0,
  right: 0,
  top: 0,
  bottom: 0,
  a0: 0,
  ax: 0,
  ay: 0,
  b0: 0,
  bx: 0,
  by: 0,
  c0: 0,
  cx: 0,
  cy: 0,
  n0: 0,
  nx: 0,
  ny: 0,
};
const HALF = STEPS / 2;

/**
 * Sets `edges` for a triangle, with the range of the band's samples that may lie in it; false if there are none. A sample on an
 * edge belongs to one of the two triangles that share it: all edges of one direction are moved by less than a step.
 */
function setEdges(scene: Scene, { x, y, near }: Projection, band: Band, triangle: number): boolean {
  const { indices } = scene;
  const i = indices[triangle * 3]!;
  let j = indices[triangle * 3 + 1]!;
  let k = indices[triangle * 3 + 2]!;
  const [ix, iy] = [x[i]!, y[i]!];
  let [jx, jy, kx, ky] = [x[j]!, y[j]!, x[k]!, y[k]!];
  let area = (jx - ix) * (ky - iy) - (kx - ix) * (jy - iy);
  if (area < 0) {
    [j, k, jx, jy, kx, ky] = [k, j, kx, ky, jx, jy];
    area = -area;
  }
  edges.left = Math.max(0, (Math.min(ix, jx, kx) + HALF - 1) >> STEPS_BITS);
  edges.right = Math.min(band.width * SAMPLES - 1, (Math.max(ix, jx, kx) - HALF) >> STEPS_BITS);
  edges.top = Math.max(band.top * SAMPLES, (Math.min(iy, jy, ky) + HALF - 1) >> STEPS_BITS);
  edges.bottom = Math.min((band.top + band.rows) * SAMPLES - 1, (Math.max(iy, jy, ky) - HALF) >> STEPS_BITS);
  if (edges.left > edges.right || edges.top > edges.bottom) return false;
  const [px, py] = [edges.left * STEPS + HALF, edges.top * STEPS + HALF];
  const owns = (dx: number, dy: number) => (dy > 0 || (dy === 0 && dx < 0) ? 0 : -1);
  const at = (fromX: number, fromY: number, toX: number, toY: number) =>
    (toX - fromX) * (py - fromY) - (toY - fromY) * (px - fromX);
  const [a, b, c] = [at(jx, jy, kx, ky), at(kx, ky, ix, iy), at(ix, iy, jx, jy)];
  edges.a0 = a + owns(kx - jx, ky - jy);
  edges.b0 = b + owns(ix - kx, iy - ky);
  edges.c0 = c + owns(jx - ix, jy - iy);
  edges.ax = (jy - ky) * STEPS;
  edges.bx = (ky - iy) * STEPS;
  edges.cx = (iy - jy) * STEPS;
  edges.ay = (kx - jx) * STEPS;
  edges.by = (ix - kx) * STEPS;
  edges.cy = (jx - ix) * STEPS;
  const [ni, nj, nk] = [near[i]!, near[j]!, near[k]!];
  edges.n0 = (a * ni + b * nj + c * nk) / area;
  edges.nx = (edges.ax * ni + edges.bx * nj + edges.cx * nk) / area;
  edges.ny = (edges.ay * ni + edges.by * nj + edges.cy * nk) / area;
  return true;
}

const surfaceAt = ({ surfaces, surfaceOf }: Scene, triangle: number) => surfaces[surfaceOf[triangle]!]!; // both lists are made together

/** Index of a sample. Samples of one pixel are adjacent, so that a pixel is read in one place. */
const placeOf = (band: Band, x: number, y: number) =>
  ((((y - band.top * SAMPLES) / SAMPLES) | 0) * band.width + ((x / SAMPLES) | 0)) * PIXEL_SAMPLES +
  (y % SAMPLES) * SAMPLES +
  (x % SAMPLES);

function cover({ scene, projection, shader, band, work }: Drawing, triangle: number): void {
  if (!setEdges(scene, projection, band, triangle)) return;
  const { triangle: nearest, near } = band;
  const surface = surfaceAt(scene, triangle);
  const isCutOut = surface.alphaMode === "MASK";
  spend(work, isCutOut ? CLEAR_STEPS : 1);
  const { left, right, top, bottom, ax, bx, cx, nx } = edges;
  if (left < band.left) band.left = left;
  if (right > band.right) band.right = right;
  let [rowA, rowB, rowC, rowN] = [edges.a0, edges.b0, edges.c0, edges.n0];
  for (let y = top; y <= bottom; y++) {
    let [a, b, c] = [rowA, rowB, rowC];
    for (let x = left; x <= right; x++) {
      if (a >= 0 && b >= 0 && c >= 0) {
        const here = Math.fround(rowN + nx * (x - left));
        const at = placeOf(band, x, y);
        if (
          here > near[at]! &&
          (!isCutOut || shader.opacity(triangle, x * STEPS + HALF, y * STEPS + HALF) >= surface.alphaCutoff)
        ) {
          near[at] = here;
          nearest[at] = triangle;
        }
      }
      a += ax;
      b += bx;
      c += cx;
    }
    rowA += edges.ay;
    rowB += edges.by;
    rowC += edges.cy;
    rowN += edges.ny;
  }
}

const shade: Shade = { red: 0, green: 0, blue: 0, alpha: 0 };
/**
 * Scratch space for one pixel: its triangles, their sample counts, sums of their samples' columns and rows, and each sample's
 * triangle.
 */
const found = new Int32Array(PIXEL_SAMPLES);
const counts = new Int32Array(PIXEL_SAMPLES);
const sumX = new Int32Array(PIXEL_SAMPLES);
const sumY = new Int32Array(PIXEL_SAMPLES);
const kindOf = new Int8Array(PIXEL_SAMPLES);
/** Sum of the columns, or of the rows, of all samples of a pixel. */
const SUM = (PIXEL_SAMPLES * (SAMPLES - 1)) / 2;

/** Colors a band's pixels. Each triangle is shaded once per pixel, at the center of its samples, which is inside it. */
function color(band: Band, shader: Shader, picture: LinearPicture): void {
  const { width, triangle, colors } = band;
  const [first, last] = [(band.left / SAMPLES) | 0, (band.right / SAMPLES) | 0];
  for (let row = 0; row < band.rows; row++)
    for (let column = first; column <= last; column++) {
      const at = (row * width + column) * PIXEL_SAMPLES;
      const kinds = sortSamples(triangle, at);
      if (kinds === 0) continue;
      let [red, green, blue, covered] = [0, 0, 0, 0];
      for (let kind = 0; kind < kinds; kind++) {
        const count = counts[kind]!;
        const x = (column * SAMPLES + sumX[kind]! / count) * STEPS + HALF;
        const y = ((band.top + row) * SAMPLES + sumY[kind]! / count) * STEPS + HALF;
        shader.shade(found[kind]!, x, y, shade);
        const share = weigh(kind);
        red += shade.red * share;
        green += shade.green * share;
        blue += shade.blue * share;
        covered += share;
        if (colors) paint(colors, at, kind);
      }
      const to = ((band.top + row) * width + column) * 4;
      picture.data[to] = red / PIXEL_SAMPLES;
      picture.data[to + 1] = green / PIXEL_SAMPLES;
      picture.data[to + 2] = blue / PIXEL_SAMPLES;
      picture.data[to + 3] = covered / PIXEL_SAMPLES;
    }
}

/** Finds the triangles of a pixel's samples and returns their number; if there are many, one triangle represents each quarter. */
function sortSamples(triangle: Int32Array, at: number): number {
  const only = triangle[at]!;
  let same = 1;
  while (same < PIXEL_SAMPLES && triangle[at + same] === only) same++;
  if (same === PIXEL_SAMPLES) {
    if (only < 0) return 0;
    found[0] = only;
    counts[0] = PIXEL_SAMPLES;
    sumX[0] = SUM;
    sumY[0] = SUM;
    kindOf.fill(0);
    return 1;
  }
  let kinds = 0;
  for (let sample = 0; sample < PIXEL_SAMPLES; sample++) {
    const each = triangle[at + sample]!;
    kindOf[sample] = -1;
    if (each < 0) continue;
    let kind = 0;
    while (kind < kinds && found[kind] !== each) kind++;
    if (kind === kinds) begin(kinds++, each);
    include(kind, sample);
  }
  if (kinds <= MOST_SHADES) return kinds;
  kinds = 0;
  for (let quarter = 0; quarter < 4; quarter++) {
    const corner = (quarter >> 1) * 2 * SAMPLES + (quarter & 1) * 2;
    let kind = -1;
    for (const sample of [corner, corner + 1, corner + SAMPLES, corner + SAMPLES + 1]) {
      const each = triangle[at + sample]!;
      if (each < 0) continue;
      if (kind === -1) {
        kind = kinds++;
        begin(kind, each);
        include(kind, sample);
      }
      kindOf[sample] = kind;
    }
  }
  return kinds;
}

function begin(kind: number, triangle: number): void {
  found[kind] = triangle;
  counts[kind] = 0;
  sumX[kind] = 0;
  sumY[kind] = 0;
}

function include(kind: number, sample: number): void {
  kindOf[sample] = kind;
  counts[kind] = counts[kind]! + 1;
  sumX[kind] = sumX[kind]! + (sample % SAMPLES);
  sumY[kind] = sumY[kind]! + ((sample / SAMPLES) | 0);
}

function weigh(kind: number): number {
  let share = 0;
  for (let sample = 0; sample < PIXEL_SAMPLES; sample++) if (kindOf[sample] === kind) share++;
  return share;
}

function paint(colors: Float32Array, at: number, kind: number): void {
  for (let sample = 0; sample < PIXEL_SAMPLES; sample++) {
    if (kindOf[sample] !== kind) continue;
    const to = (at + sample) * 4;
    colors[to] = shade.red;
    colors[to + 1] = shade.green;
    colors[to + 2] = shade.blue;
    colors[to + 3] = 1;
  }
}

/** Blends a transparent triangle over the colors of its samples, with one color for its part of each pixel. */
function veil({ scene, projection, shader, band, work }: Drawing, triangle: number): void {
  if (!band.colors || !setEdges(scene, projection, band, triangle)) return;
  spend(work, CLEAR_STEPS);
  const { near, colors } = band;
  const { left, right, top, bottom, ax, ay, bx, by, cx, cy, nx, ny } = edges;
  const { a0, b0, c0, n0 } = edges;
  const best = (x: number, y: number) => (Math.max(0, x) + Math.max(0, y)) * (SAMPLES - 1);
  const [bestA, bestB, bestC] = [best(ax, ay), best(bx, by), best(cx, cy)];
  for (let pixelY = (top / SAMPLES) | 0; pixelY * SAMPLES <= bottom; pixelY++)
    for (let pixelX = (left / SAMPLES) | 0; pixelX * SAMPLES <= right; pixelX++) {
      const [startX, startY] = [pixelX * SAMPLES - left, pixelY * SAMPLES - top];
      // Skips a pixel that an edge excludes even at its best sample.
      if (a0 + ax * startX + ay * startY + bestA < 0) continue;
      if (b0 + bx * startX + by * startY + bestB < 0) continue;
      if (c0 + cx * startX + cy * startY + bestC < 0) continue;
      let [seen, sumOfX, sumOfY] = [0, 0, 0];
      for (let sample = 0; sample < PIXEL_SAMPLES; sample++) {
        kindOf[sample] = -1;
        const x = pixelX * SAMPLES + (sample % SAMPLES);
        const y = pixelY * SAMPLES + ((sample / SAMPLES) | 0);
        if (x < left || x > right || y < top || y > bottom) continue;
        const [dx, dy] = [x - left, y - top];
        if (a0 + ax * dx + ay * dy < 0 || b0 + bx * dx + by * dy < 0 || c0 + cx * dx + cy * dy < 0) continue;
        if (Math.fround(n0 + nx * dx + ny * dy) <= near[placeOf(band, x, y)]!) continue;
        kindOf[sample] = 0;
        seen++;
        sumOfX += x;
        sumOfY += y;
      }
      if (seen === 0) continue;
      shader.shade(triangle, (sumOfX / seen) * STEPS + HALF, (sumOfY / seen) * STEPS + HALF, shade);
      const { red, green, blue, alpha } = shade;
      const at = ((pixelY - band.top) * band.width + pixelX) * PIXEL_SAMPLES;
      for (let sample = 0; sample < PIXEL_SAMPLES; sample++) {
        if (kindOf[sample] !== 0) continue;
        const to = (at + sample) * 4;
        colors[to] = colors[to]! * (1 - alpha) + red * alpha;
        colors[to + 1] = colors[to + 1]! * (1 - alpha) + green * alpha;
        colors[to + 2] = colors[to + 2]! * (1 - alpha) + blue * alpha;
        colors[to + 3] = colors[to + 3]! * (1 - alpha) + alpha;
      }
    }
}

/** Averages samples into pixels. */
function gather({ width, top, rows, colors }: Band, picture: LinearPicture): void {
  if (!colors) return;
  for (let pixel = 0; pixel < rows * width; pixel++)
    for (let part = 0; part < 4; part++) {
      let sum = 0;
      for (let sample = 0; sample < PIXEL_SAMPLES; sample++)
        sum += colors[(pixel * PIXEL_SAMPLES + sample) * 4 + part]!;
      picture.data[(top * width + pixel) * 4 + part] = sum / PIXEL_SAMPLES;
    }
}
