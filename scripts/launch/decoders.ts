import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "./files";

const FROM = "node_modules/three/examples/jsm/libs";
const TO = "public/decoders";
/** The 3D viewer's decoders for compressed meshes and textures. Each README names the license. */
const DECODERS = {
  "draco/draco_decoder.wasm": "draco/gltf/draco_decoder.wasm",
  "draco/draco_wasm_wrapper.js": "draco/gltf/draco_wasm_wrapper.js",
  "draco/README.md": "draco/README.md",
  "basis/basis_transcoder.js": "basis/basis_transcoder.js",
  "basis/basis_transcoder.wasm": "basis/basis_transcoder.wasm",
  "basis/README.md": "basis/README.md",
};

/**
 * Copies the decoders to where the panel serves them, because the viewer would load them from other hosts. Returns the written
 * paths.
 */
export function writeDecoders(): string[] {
  return Object.entries(DECODERS).flatMap(([name, source]) => {
    const path = join(TO, name);
    const content = readFileSync(join(FROM, source));
    if (existsSync(path) && readFileSync(path).equals(content)) return [];
    writeWhole(path, content, 0o644);
    return [path];
  });
}
