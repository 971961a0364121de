import { type Texture as GltfTexture, type Material, TextureInfo } from "@gltf-transform/core";
import type { EmissiveStrength, PBRSpecularGlossiness, Transform } from "@gltf-transform/extensions";
import { mapThree } from "../../three";
import { cosine, sine } from "../arithmetic";
import type { Style } from "../request";
import type { Surface, TextureUse, Wrap } from "../scene";
import { readTexture, type Texture } from "./textures";

/** The coordinate set at which a material's textures are read, and its transform: u' = a u + b v + c, v' = d u + e v + f. */
export type Coordinates = { set: number; move: readonly [number, number, number, number, number, number] };
export type ReadMaterial = { surface: Surface; coordinates: Coordinates | null };

/** Reads each picture at most once as colors and once as numbers; the more textures there are, the smaller the copies kept. */
export type TextureShelf = {
  get(texture: GltfTexture, isColor: boolean): Promise<Texture | null>;
  count(): number;
};

export function textureShelf(textures: GltfTexture[], warn: (message: string) => void): TextureShelf {
  const most =
    textures.length <= 12 ? 2048 : textures.length <= 48 ? 1024 : textures.length <= 200 ? 512 : 128;
  const read = new Map<string, Promise<Texture | null>>();
  const placeOf = new Map(textures.map((texture, index) => [texture, index]));
  return {
    get(texture, isColor) {
      const index = placeOf.get(texture) ?? -1;
      const key = `${index} ${isColor}`;
      const known = read.get(key);
      if (known) return known;
      const bytes = texture.getImage();
      if (!bytes) warn(`The texture ${index} has no supported picture and was left out.`);
      const reading = bytes ? readTexture(bytes, String(index), { most, isColor }) : Promise.resolve(null);
      read.set(key, reading);
      return reading;
    },
    count: () => read.size,
  };
}

/** Reads a primitive's material and the textures that the style needs; null is glTF's default material. */
export async function readMaterial(
  material: Material | null,
  style: Style,
  shelf: TextureShelf,
  warn: (message: string) => void,
): Promise<ReadMaterial> {
  const plain: Surface = {
    alphaMode: "OPAQUE",
    alphaCutoff: 0.5,
    doubleSided: false,
    isUnlit: false,
    baseColor: [1, 1, 1, 1],
    emissive: [0, 0, 0],
    metallic: material ? 1 : 0,
    roughness: 1,
    base: null,
    glow: null,
    metalRough: null,
    hasColors: false,
    hasMadeNormals: false,
  };
  if (!material) return { surface: plain, coordinates: null };
  const name = material.getName() ? `"${material.getName()}"` : "without a name";
  const glossy = material.getExtension<PBRSpecularGlossiness>("KHR_materials_pbrSpecularGlossiness");
  const strength = material.getExtension<EmissiveStrength>("KHR_materials_emissive_strength");
  const glow = material.getEmissiveFactor();
  const surface: Surface = {
    ...plain,
    alphaMode: material.getAlphaMode(),
    alphaCutoff: material.getAlphaCutoff(),
    doubleSided: material.getDoubleSided(),
    isUnlit: material.getExtension("KHR_materials_unlit") !== null,
    baseColor: glossy?.getDiffuseFactor() ?? material.getBaseColorFactor(),
    emissive: mapThree(glow, (each) => each * (strength?.getEmissiveStrength() ?? 1)),
    metallic: glossy ? 0 : material.getMetallicFactor(),
    roughness: glossy ? 1 - glossy.getGlossinessFactor() : material.getRoughnessFactor(),
  };
  const isColored = style === "material" || style === "flat";
  const isCutOut = surface.alphaMode !== "OPAQUE";
  let coordinates: Coordinates | null = null;
  const use = async (
    texture: GltfTexture | null,
    info: TextureInfo | null,
    isColor: boolean,
    what: string,
  ) => {
    if (!texture || !info) return null;
    const own = coordinatesOf(info);
    if (coordinates && !isSame(coordinates, own)) {
      warn(`The ${what} texture of the material ${name} has its own coordinates and was left out.`);
      return null;
    }
    const picture = await shelf.get(texture, isColor);
    if (!picture) return null;
    coordinates = own;
    return toUse(picture, info);
  };
  if (isColored || isCutOut)
    surface.base = await use(
      glossy ? glossy.getDiffuseTexture() : material.getBaseColorTexture(),
      glossy ? glossy.getDiffuseTextureInfo() : material.getBaseColorTextureInfo(),
      true,
      "base colour",
    );
  if (style === "material") {
    if (surface.emissive.some((each) => each > 0))
      surface.glow = await use(
        material.getEmissiveTexture(),
        material.getEmissiveTextureInfo(),
        true,
        "emissive",
      );
    // An emissive texture that was left out must not make the whole surface glow.
    if (material.getEmissiveTexture() && !surface.glow) surface.emissive = [0, 0, 0];
    const roughness = glossy ? null : material.getMetallicRoughnessTexture();
    surface.metalRough = await use(roughness, material.getMetallicRoughnessTextureInfo(), false, "metallic");
    if (roughness && !surface.metalRough) surface.metallic = 0;
    if (material.getNormalTexture())
      warn("Normal maps are not drawn, so fine relief is missing from the pictures.");
  }
  return { surface, coordinates };
}

const isSame = (a: Coordinates, b: Coordinates) =>
  a.set === b.set && a.move.every((each, at) => each === b.move[at]);

function coordinatesOf(info: TextureInfo): Coordinates {
  const transform = info.getExtension<Transform>("KHR_texture_transform");
  if (!transform) return { set: info.getTexCoord(), move: [1, 0, 0, 0, 1, 0] };
  const [u, v] = transform.getOffset();
  const [scaleU, scaleV] = transform.getScale();
  const [s, c] = [sine(transform.getRotation()), cosine(transform.getRotation())];
  return {
    set: transform.getTexCoord() ?? info.getTexCoord(),
    move: [c * scaleU, s * scaleV, u, -s * scaleU, c * scaleV, v],
  };
}

const WRAPS: Record<number, Wrap> = {
  [TextureInfo.WrapMode["REPEAT"]!]: "repeat",
  [TextureInfo.WrapMode["MIRRORED_REPEAT"]!]: "mirror",
  [TextureInfo.WrapMode["CLAMP_TO_EDGE"]!]: "clamp",
};

const toUse = (texture: Texture, info: TextureInfo): TextureUse => ({
  texture,
  wrapS: WRAPS[info.getWrapS()] ?? "repeat",
  wrapT: WRAPS[info.getWrapT()] ?? "repeat",
  isNearest: info.getMagFilter() === TextureInfo.MagFilter["NEAREST"],
});
