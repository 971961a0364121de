/** Largest file that is drawn; larger ones are refused before anything is decoded. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
export const MAX_JSON_BYTES = 4 * 1024 * 1024;
export const MAX_VERTICES = 5_000_000;
export const MAX_TRIANGLES = 10_000_000;
export const MAX_TEXTURE_PIXELS = 40_000_000;
/** Limit of all decoded accessors together, because a small file may name the same bytes ten thousand times. */
export const MAX_DECODED_BYTES = 768 * 1024 * 1024;
/** Limit of all encoded images of a file together, for the same reason. */
export const MAX_IMAGE_BYTES = 128 * 1024 * 1024;
/**
 * Limit of a drawing's steps over all triangles and views: the samples around each triangle, which count several times on
 * transparent and cut-out surfaces, and a few for the triangle itself. Takes some 20 seconds of one processor; the same file and
 * request always need the same number.
 */
export const MAX_DRAW_STEPS = 4_000_000_000;
export const MAX_SCENE_NODES = 50_000;
/** Limit of each other list of a file, such as materials and accessors. */
export const MAX_ENTRIES = 20_000;
