import type { Style } from "./request";

/*
 * A studio around the camera, so that every view is lit alike: a bright room above, a warm floor, a large lamp to the upper left,
 * a weak one to the right, and a rim light from behind. Directions are the camera's: right, up, back.
 */

type Lamp = { x: number; y: number; z: number; red: number; green: number; blue: number; gloss: number };
const lamp = ({
  x,
  y,
  z,
  color,
  gloss,
}: {
  x: number;
  y: number;
  z: number;
  color: [number, number, number];
  gloss: number;
}): Lamp => {
  const length = Math.sqrt(x * x + y * y + z * z);
  const [red, green, blue] = color;
  return { x: x / length, y: y / length, z: z / length, red, green, blue, gloss };
};
const LAMPS = [
  lamp({ x: -0.55, y: 0.7, z: 0.62, color: [0.78, 0.765, 0.74], gloss: 1.5 }),
  lamp({ x: 0.9, y: 0.15, z: 0.5, color: [0.2, 0.215, 0.235], gloss: 0.45 }),
  lamp({ x: 0.35, y: 0.65, z: -0.75, color: [0.22, 0.225, 0.235], gloss: 0.8 }),
];
const SKY = [0.5, 0.51, 0.53] as const;
const FLOOR = [0.2, 0.19, 0.18] as const;

/** Color of the styles that ignore materials: red, green and blue as light, then roughness. */
export const PLAIN: Partial<Record<Style, readonly [number, number, number, number]>> = {
  neutral: [0.42, 0.42, 0.42, 0.55],
  clay: [0.52, 0.3, 0.21, 0.95],
};

export type Lit = { red: number; green: number; blue: number };
type Normal = { x: number; y: number; z: number };
const lit: Lit = { red: 0, green: 0, blue: 0 };

/** Diffuse light on a surface. The next call overwrites the result. */
function fallen({ x, y, z }: Normal): Lit {
  const above = 0.5 + 0.5 * y;
  lit.red = FLOOR[0] + (SKY[0] - FLOOR[0]) * above;
  lit.green = FLOOR[1] + (SKY[1] - FLOOR[1]) * above;
  lit.blue = FLOOR[2] + (SKY[2] - FLOOR[2]) * above;
  for (let n = 0; n < LAMPS.length; n++) {
    const each = LAMPS[n]!;
    const facing = x * each.x + y * each.y + z * each.z;
    if (facing <= 0) continue;
    lit.red += each.red * facing;
    lit.green += each.green * facing;
    lit.blue += each.blue * facing;
  }
  return lit;
}

/** Reflection of the room and its lamps in a surface of this roughness; the next call overwrites the result. */
function mirrored({ x, y, z }: Normal, roughness: number): Lit {
  // The two halves of the room meet sharply in a mirror and softly in a rough surface.
  const width = 0.35 + 0.65 * roughness;
  const t = Math.min(1, Math.max(0, 0.5 + (0.5 * y) / width));
  const above = t * t * (3 - 2 * t);
  lit.red = FLOOR[0] + (SKY[0] * 1.1 - FLOOR[0]) * above;
  lit.green = FLOOR[1] + (SKY[1] * 1.1 - FLOOR[1]) * above;
  lit.blue = FLOOR[2] + (SKY[2] * 1.1 - FLOOR[2]) * above;
  const sharpness = 1 + (1 - roughness) * 7;
  const whole = Math.floor(sharpness);
  for (let n = 0; n < LAMPS.length; n++) {
    const each = LAMPS[n]!;
    const facing = x * each.x + y * each.y + z * each.z;
    if (facing <= 0) continue;
    let spot = facing;
    for (let k = 0; k < whole; k++) spot *= spot;
    const strength =
      (spot + (spot * spot - spot) * (sharpness - whole)) * (0.6 + each.gloss * sharpness * 0.5);
    lit.red += each.red * strength;
    lit.green += each.green * strength;
    lit.blue += each.blue * strength;
  }
  return lit;
}

export type Stuff = { red: number; green: number; blue: number; metallic: number; roughness: number };

/** Writes the color of a lit surface to `out`. `normal` points to the camera's side, `sight` from the surface to the camera. */
export function light(stuff: Stuff, normal: Normal, sight: Normal, out: Lit): void {
  const facing = Math.max(0, normal.x * sight.x + normal.y * sight.y + normal.z * sight.z);
  const { metallic, roughness } = stuff;
  const diffuse = fallen(normal);
  const keep = (1 - metallic) * 0.96;
  out.red = stuff.red * diffuse.red * keep;
  out.green = stuff.green * diffuse.green * keep;
  out.blue = stuff.blue * diffuse.blue * keep;
  const bounce = 2 * facing;
  const glance = 1 - facing;
  const edge = glance * glance * glance * glance * glance * (1 - roughness) * (1 - roughness);
  const image = mirrored(
    {
      x: bounce * normal.x - sight.x,
      y: bounce * normal.y - sight.y,
      z: bounce * normal.z - sight.z,
    },
    roughness,
  );
  const shine = (own: number) => {
    const straight = 0.04 + (own - 0.04) * metallic;
    return straight + (1 - straight) * edge * 0.5;
  };
  out.red += shine(stuff.red) * image.red;
  out.green += shine(stuff.green) * image.green;
  out.blue += shine(stuff.blue) * image.blue;
}

/** Compresses bright light toward white, so that a highlight keeps its shape; light up to 0.7 is unchanged. */
export function soften(value: number): number {
  if (value <= 0.7) return value;
  const over = (value - 0.7) / 0.3;
  return 0.7 + (0.3 * over) / (1 + over);
}
