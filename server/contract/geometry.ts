/** In pixels, from the upper left corner. */
export type Rectangle = { x: number; y: number; width: number; height: number };

/** Start of a cell on an edge, in whole pixels. Cells differ by at most one pixel and leave no gaps. */
export const boundary = (edge: number, count: number, index: number) => Math.floor((index * edge) / count);
