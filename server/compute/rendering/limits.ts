/** The largest files that are drawn; what is larger is refused before anything is decoded. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
export const MAX_JSON_BYTES = 4 * 1024 * 1024;
export const MAX_VERTICES = 5_000_000;
export const MAX_TRIANGLES = 10_000_000;
export const MAX_TEXTURE_PIXELS = 40_000_000;
/** All decoded accessors together: one small file may name the same bytes ten thousand times. */
export const MAX_DECODED_BYTES = 768 * 1024 * 1024;
/** All images of a file together, encoded, for the same reason. */
export const MAX_IMAGE_BYTES = 128 * 1024 * 1024;
/**
 * Samples that a drawing looks at, over all of its triangles and views: what is covered twice counts twice. Some 20 seconds
 * of one processor; the same file and request always need the same number.
 */
export const MAX_DRAW_STEPS = 4_000_000_000;
export const MAX_NODES = 50_000;
/** Materials, accessors and the other lists of a file, each. */
export const MAX_ENTRIES = 20_000;
