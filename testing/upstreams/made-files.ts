import { readFileSync } from "node:fs";

/* Whole files of each kind, as a vendor returns them. */

/** A white PNG of 256 x 256 pixels. */
export const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAQAAAAEAAQMAAABmvDolAAAAA1BMVEX///+nxBvIAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAH0lEQVRo3u3BAQ0AAADCoPdPbQ43oAAAAAAAAAAAvg0hAAABfxmcpwAAAABJRU5ErkJggg==",
  "base64",
);

/** One and a half seconds of sound in Opus. */
export const SOUND = readFileSync(new URL("../../server/compute/audio/fixtures/opus.ogg", import.meta.url));

/** A mesh of one triangle, as GLB. */
export const MESH = (() => {
  const text = JSON.stringify({
    asset: { version: "2.0" },
    buffers: [{ byteLength: 36 }],
    bufferViews: [{ buffer: 0, byteLength: 36 }],
    accessors: [{ count: 3 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
  });
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4));
  const file = Buffer.alloc(12 + 8 + json.length + 8 + 36);
  file.write("glTF", 0, "latin1");
  file.writeUInt32LE(2, 4);
  file.writeUInt32LE(file.length, 8);
  file.writeUInt32LE(json.length, 12);
  file.write("JSON", 16, "latin1");
  json.copy(file, 20);
  file.writeUInt32LE(36, 20 + json.length);
  file.write("BIN\0", 24 + json.length, "latin1");
  return file;
})();
