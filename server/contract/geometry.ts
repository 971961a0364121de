/** In pixels, from the upper left corner. */
export type Rectangle = { x: number; y: number; width: number; height: number };

/** Where the cell of this index begins on an edge: whole pixels, cells as even as can be, without gaps. */
export const boundary = (edge: number, count: number, index: number) => Math.floor((index * edge) / count);
