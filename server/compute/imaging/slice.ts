import { boundary } from "@/server/contract/geometry";
import { crop, type Raster, type Rectangle } from "./raster";

export type SlicePlan = { rows: number; columns: number };

export type Slice = {
  row: number;
  column: number;
  /** The cell's place on the grid. */
  cell: Rectangle;
  /**
   * Rectangle of the sheet around the cell's drawing, and its pixels without those of other cells. Both are null for an empty
   * cell.
   */
  source: Rectangle | null;
  content: Raster | null;
};

export type Sliced = {
  /** Cut along the grid, or around the drawn shapes. */
  slicedBy: "grid" | "content";
  /** True if every pixel is opaque; each cell is then its whole rectangle. */
  opaque: boolean;
  slices: Slice[];
};

/** Least alpha of a drawn pixel. Fainter pixels are haze, which goes with the shape it touches. */
const VISIBLE = 16;
/** A shape wider or higher than this many cells counts as several shapes that touch. */
const JOINED = 1.5;
/** A shape counts if its area is at least this part of the largest one; smaller ones are crumbs. */
const SHAPE = 0.05;

function cellAt(raster: Raster, { rows, columns }: SlicePlan, row: number, column: number): Rectangle {
  const [x, y] = [boundary(raster.width, columns, column), boundary(raster.height, rows, row)];
  return {
    x,
    y,
    width: boundary(raster.width, columns, column + 1) - x,
    height: boundary(raster.height, rows, row + 1) - y,
  };
}

/**
 * Cuts a sheet into its cells, in reading order. An opaque sheet, or one whose shapes keep to the grid, is cut along the grid. If
 * the grid would cut through shapes, or leave cells empty beside crowded ones, each connected shape goes to one cell as a whole;
 * touching shapes are separated where the least is drawn.
 */
export function sliceSheet(raster: Raster, plan: SlicePlan): Sliced {
  const cells = Array.from({ length: plan.rows * plan.columns }, (_, index) => ({
    row: Math.floor(index / plan.columns),
    column: index % plan.columns,
    cell: cellAt(raster, plan, Math.floor(index / plan.columns), index % plan.columns),
  }));
  if (isOpaque(raster)) {
    return {
      slicedBy: "grid",
      opaque: true,
      slices: cells.map((each) => ({ ...each, source: each.cell, content: crop(raster, each.cell) })),
    };
  }
  const { labels, shapes } = findShapes(raster);
  const keepsToGrid = shapes.map((shape) => {
    const [first, last] = [
      cellOf(raster, plan, shape.left, shape.top),
      cellOf(raster, plan, shape.right, shape.bottom),
    ];
    return first === last ? first : -1;
  });
  const filled = new Set(keepsToGrid);
  const isTidy = !filled.has(-1) && (filled.size === cells.length || bigOnes(shapes).length !== cells.length);
  if (isTidy) {
    const slices = cells.map((each) => {
      const source = bounds(raster, each.cell);
      return { ...each, source, content: source && crop(raster, source) };
    });
    return { slicedBy: "grid", opaque: false, slices };
  }
  const owner = ownersOf(raster, plan, shapes);
  const sources = boxes(raster, labels, owner, cells.length);
  return {
    slicedBy: "content",
    opaque: false,
    slices: cells.map((each, index) => {
      const source = sources[index];
      if (!source) return { ...each, source: null, content: null };
      return { ...each, source, content: cutOut(raster, source, (pixel) => owner(labels, pixel) === index) };
    }),
  };
}

function isOpaque({ data }: Raster): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at]! < 255) return false;
  return true;
}

function cellOf(raster: Raster, plan: SlicePlan, x: number, y: number): number {
  const index = (at: number, edge: number, count: number) => {
    let found = Math.min(count - 1, Math.floor((at * count) / edge));
    while (found > 0 && at < boundary(edge, count, found)) found--;
    while (found < count - 1 && at >= boundary(edge, count, found + 1)) found++;
    return found;
  };
  return index(y, raster.height, plan.rows) * plan.columns + index(x, raster.width, plan.columns);
}

/** The smallest rectangle around the pixels that are not fully transparent inside this one; null if there are none. */
function bounds({ width, data }: Raster, { x, y, width: w, height: h }: Rectangle): Rectangle | null {
  let [left, right, top, bottom] = [x + w, -1, y + h, -1];
  for (let row = y; row < y + h; row++) {
    for (let column = x; column < x + w; column++) {
      if (data[(row * width + column) * 4 + 3] === 0) continue;
      if (column < left) left = column;
      if (column > right) right = column;
      if (row < top) top = row;
      bottom = row;
    }
  }
  return right < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

type Shape = { area: number; left: number; right: number; top: number; bottom: number; x: number; y: number };

/**
 * Connected shapes, and the number of each pixel's shape (from 1; 0 for none). Haze belongs to the shape it touches; haze that
 * touches none is dropped.
 */
function findShapes({ width, height, data }: Raster): { labels: Int32Array; shapes: Shape[] } {
  const labels = new Int32Array(width * height);
  const queue = new Int32Array(width * height);
  const shapes: Shape[] = [];
  let queued = 0;
  const spread = (pixel: number, label: number, least: number) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++) {
      for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
        const other = row * width + column;
        if (labels[other] !== 0 || data[other * 4 + 3]! < least) continue;
        labels[other] = label;
        queue[queued++] = other;
      }
    }
  };
  let taken = 0;
  for (let pixel = 0; pixel < labels.length; pixel++) {
    if (labels[pixel] !== 0 || data[pixel * 4 + 3]! < VISIBLE) continue;
    const shape: Shape = { area: 0, left: width, right: 0, top: height, bottom: 0, x: 0, y: 0 };
    shapes.push(shape);
    labels[pixel] = shapes.length;
    queue[queued++] = pixel;
    while (taken < queued) {
      const at = queue[taken++]!;
      const [x, y] = [at % width, Math.floor(at / width)];
      shape.area++;
      shape.left = Math.min(shape.left, x);
      shape.right = Math.max(shape.right, x);
      shape.top = Math.min(shape.top, y);
      shape.bottom = Math.max(shape.bottom, y);
      shape.x += x;
      shape.y += y;
      spread(at, shapes.length, VISIBLE);
    }
    shape.x /= shape.area;
    shape.y /= shape.area;
  }
  // Breadth first: the queue holds every visible pixel, so all shapes grow into their haze at the same rate.
  for (let next = 0; next < queued; next++) {
    const at = queue[next]!;
    spread(at, labels[at]!, 1);
  }
  return { labels, shapes };
}

/** The shapes that count as drawings and not as crumbs. */
function bigOnes(shapes: Shape[]): Shape[] {
  const largest = shapes.reduce((most, { area }) => Math.max(most, area), 0);
  return shapes.filter(({ area }) => area >= largest * SHAPE);
}

type Owner = (labels: Int32Array, pixel: number) => number;

/** Returns a function from a pixel to the index of its cell; -1 for none. */
function ownersOf(raster: Raster, plan: SlicePlan, shapes: Shape[]): Owner {
  const { width, height } = raster;
  const [cellWidth, cellHeight] = [width / plan.columns, height / plan.rows];
  const isJoined = (shape: Shape) =>
    shape.right - shape.left + 1 > JOINED * cellWidth || shape.bottom - shape.top + 1 > JOINED * cellHeight;
  const joined = new Set(shapes.flatMap((shape, index) => (isJoined(shape) ? [index + 1] : [])));
  const whole = shapes.filter((shape) => !isJoined(shape));
  const cellOfShape = joined.size === 0 ? byOrder(raster, plan, whole) : byCentre(raster, plan, whole);
  const cells = shapes.map((shape) => cellOfShape.get(shape) ?? -1);
  if (joined.size === 0) return (labels, pixel) => cells[labels[pixel]! - 1] ?? -1;

  const cutsX = cuts(raster, plan.columns, "x");
  const cutsY = cuts(raster, plan.rows, "y");
  return (labels, pixel) => {
    const label = labels[pixel]!;
    if (!joined.has(label)) return cells[label - 1] ?? -1;
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const column = cutsX.filter((cut) => x >= cut).length;
    const row = cutsY.filter((cut) => y >= cut).length;
    return row * plan.columns + column;
  };
}

const byCentre = (raster: Raster, plan: SlicePlan, shapes: Shape[]) =>
  new Map(shapes.map((shape) => [shape, cellOf(raster, plan, Math.round(shape.x), Math.round(shape.y))]));

/**
 * If there are fewer large shapes than cells, or more whose centers cover all cells, each shape goes to the cell of its center.
 * Otherwise each cell gets one large shape, by center if the centers cover all cells, else in reading order, and the other shapes go with
 * the nearest of these.
 */
function byOrder(raster: Raster, plan: SlicePlan, shapes: Shape[]): Map<Shape, number> {
  const count = plan.rows * plan.columns;
  const centred = byCentre(raster, plan, shapes);
  const big = bigOnes(shapes);
  if (new Set(big.map((shape) => centred.get(shape))).size === count) {
    return big.length === count ? withCrumbs(big, shapes, centred) : centred;
  }
  const anchors = shapes.toSorted((a, b) => b.area - a.area).slice(0, count);
  if (anchors.length < count || big.length < count) return centred;
  const middle = (shape: Shape) => ({ x: shape.left + shape.right, y: shape.top + shape.bottom });
  const down = anchors.toSorted((a, b) => middle(a).y - middle(b).y);
  const ordered = Array.from({ length: plan.rows }, (_, row) =>
    down.slice(row * plan.columns, (row + 1) * plan.columns).sort((a, b) => middle(a).x - middle(b).x),
  ).flat();
  return withCrumbs(anchors, shapes, new Map(ordered.map((shape, index) => [shape, index])));
}

function withCrumbs(anchors: Shape[], shapes: Shape[], cells: Map<Shape, number>): Map<Shape, number> {
  const isAnchor = new Set(anchors);
  const found = new Map(anchors.map((shape) => [shape, cells.get(shape) ?? -1]));
  for (const shape of shapes) {
    if (isAnchor.has(shape)) continue;
    const nearest = anchors.reduce((a, b) => (gap(shape, b) < gap(shape, a) ? b : a));
    found.set(shape, cells.get(nearest) ?? -1);
  }
  return found;
}

function gap(a: Shape, b: Shape): number {
  const x = Math.max(0, a.left - b.right, b.left - a.right);
  const y = Math.max(0, a.top - b.bottom, b.top - a.bottom);
  return x * x + y * y;
}

/** Lines at which touching shapes are separated: near each line of the grid, the one that crosses the least drawing. */
function cuts({ width, height, data }: Raster, count: number, axis: "x" | "y"): number[] {
  const edge = axis === "x" ? width : height;
  const crossed = new Float64Array(edge);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const at = axis === "x" ? pixel % width : Math.floor(pixel / width);
    crossed[at] = crossed[at]! + data[pixel * 4 + 3]!;
  }
  const reach = Math.floor(edge / count / 3);
  return Array.from({ length: count - 1 }, (_, index) => {
    const line = boundary(edge, count, index + 1);
    let best = line;
    for (let away = 1; away <= reach; away++) {
      for (const at of [line - away, line + away]) {
        if ((crossed[at] ?? Number.POSITIVE_INFINITY) < crossed[best]!) best = at;
      }
    }
    return best;
  });
}

/** The rectangle around each cell's pixels; null for an empty cell. */
function boxes(raster: Raster, labels: Int32Array, owner: Owner, count: number): (Rectangle | null)[] {
  const found = Array.from({ length: count }, () => ({
    left: raster.width,
    right: -1,
    top: raster.height,
    bottom: -1,
  }));
  for (let pixel = 0; pixel < labels.length; pixel++) {
    if (labels[pixel] === 0) continue;
    const box = found[owner(labels, pixel)];
    if (!box) continue;
    const [x, y] = [pixel % raster.width, Math.floor(pixel / raster.width)];
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  }
  return found.map(({ left, right, top, bottom }) =>
    right < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 },
  );
}

function cutOut(raster: Raster, box: Rectangle, isMine: (pixel: number) => boolean): Raster {
  const part = crop(raster, box);
  for (let index = 0; index < box.width * box.height; index++) {
    const [x, y] = [box.x + (index % box.width), box.y + Math.floor(index / box.width)];
    if (!isMine(y * raster.width + x)) part.data.fill(0, index * 4, index * 4 + 4);
  }
  return part;
}
