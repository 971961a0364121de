import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Canvas, createCanvas, GlobalFonts, type SKRSContext2D } from "@napi-rs/canvas";
import { editPicture } from "./edit";
import { pickOne, type Random, randomFrom } from "./random";
import type { ImageRequest } from "./requests";
import { readWeights } from "./weights";

export type ImageAnswer = { images: { mediaType: "image/png"; base64: string }[]; usage: { images: number } };

const locate = createRequire(import.meta.url).resolve;
const FAMILIES = ["latin", "latin-ext", "cyrillic", "greek"].map((script) => {
  const family = `Sandbox ${script}`;
  GlobalFonts.register(
    readFileSync(locate(`@fontsource-variable/inter/files/inter-${script}-wght-normal.woff2`)),
    family,
  );
  return `"${family}"`;
});
/** Only these fonts, never the machine's own: the same request draws the same bytes everywhere. */
const FONT = FAMILIES.join(", ");
/** Matches characters that the fonts above cannot draw, which are left out of the picture. */
const UNDRAWABLE = /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}\p{P}\s]/gu;

/** Draws `count` different PNGs of the requested size from the prompt. The same request always gives the same bytes. */
export async function drawImages(request: ImageRequest): Promise<ImageAnswer> {
  const references = request.referenceImages
    .map(({ base64 }) => createHash("sha256").update(base64).digest("hex"))
    .join(" ");
  const adapters = await Promise.all(
    (request.adapters ?? []).map(async ({ url, weight }) => ({ digest: await readWeights(url), weight })),
  );
  const weights = adapters.map(({ digest, weight }) => `\n${digest} ${weight}`).join("");
  const images: ImageAnswer["images"] = [];
  // `sandbox-partial` leaves an image out if there are several, and `sandbox-garbled` sends files that no reader understands.
  const count = request.model === "sandbox-partial" ? Math.max(1, request.count - 1) : request.count;
  const isGarbled = request.model === "sandbox-garbled";
  for (let variant = 0; variant < count; variant += 1) {
    const random = randomFrom(`${request.model}\n${request.prompt}\n${references}\n${variant}${weights}`);
    const drawn = await draw(request, variant, random, adapters);
    const png = request.source ? await editPicture(request, request.source, drawn) : drawn;
    const sent = isGarbled ? png.subarray(0, 32) : png;
    images.push({ mediaType: "image/png", base64: sent.toString("base64") });
  }
  return { images, usage: { images: images.length } };
}

type Palette = { sky: [string, string, string]; accents: [string, ...string[]]; ink: string; hue: number };

function paletteFrom(random: Random): Palette {
  const hue =
    pickOne(random, [165, 190, 208, 226, 248, 268, 292, 326, 348] as const) + Math.floor(random() * 12);
  const turn = pickOne(random, [24, 36, 48, -24, -40] as const);
  const at = (offset: number, saturation: number, lightness: number) =>
    `hsl(${(hue + offset + 720) % 360}, ${saturation}%, ${lightness}%)`;
  return {
    hue,
    sky: [at(0, 62, 24), at(turn, 68, 44), at(turn * 2, 82, 70)],
    accents: [at(turn * 2, 90, 74), at(turn * 3, 84, 62), at(180, 62, 66), at(turn, 78, 56)],
    ink: at(0, 60, 12),
  };
}

/** Canvas, colors and random stream of a drawing. */
type Scene = { context: SKRSContext2D; width: number; height: number; palette: Palette; random: Random };

type Adapter = { digest: string; weight: number };

async function draw(
  request: ImageRequest,
  variant: number,
  random: Random,
  adapters: Adapter[],
): Promise<Buffer> {
  const { width, height, transparent, background, sheet } = request;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext("2d");
  const palette = paletteFrom(random);
  const scene = { context, width, height, palette, random };
  const shapes = { low: 10, medium: 18, standard: 18, auto: 22, high: 34 }[request.quality];

  if (background && !transparent) {
    context.fillStyle = background;
    context.fillRect(0, 0, width, height);
  }
  if (sheet) {
    if (!transparent && !background) drawSky(scene);
    drawSheet(context, request, sheet, random);
  } else if (transparent || background) {
    drawEmblem(scene, shapes);
  } else {
    drawSky(scene);
    drawShapes(scene, shapes);
    drawHills(scene);
    drawFrames(context, width, height, adapters);
    drawCaption(scene, request.prompt, variant, adapters);
  }
  return canvas.encode("png");
}

/** Draws a landscape with the prompt's words in its corner, for a camera that moves across it. */
export function drawView(prompt: string, seed: string, width: number, height: number): Canvas {
  const canvas = createCanvas(width, height);
  const context = canvas.getContext("2d");
  const random = randomFrom(seed);
  const scene = { context, width, height, palette: paletteFrom(random), random };
  drawSky(scene);
  drawShapes(scene, 40);
  drawHills(scene);
  drawWords(scene, prompt);
  return canvas;
}

function drawSky({ context, width, height, palette: { sky }, random }: Scene) {
  const lean = (random() - 0.5) * 0.6 * height;
  const gradient = context.createLinearGradient(width / 2 - lean, 0, width / 2 + lean, height);
  gradient.addColorStop(0, sky[0]);
  gradient.addColorStop(0.55, sky[1]);
  gradient.addColorStop(1, sky[2]);
  context.fillStyle = gradient;
  context.fillRect(0, 0, width, height);

  // A low sun with a wide glow.
  const [x, y, radius] = [
    width * (0.2 + random() * 0.6),
    height * (0.3 + random() * 0.25),
    Math.min(width, height) * (0.1 + random() * 0.06),
  ];
  const glow = context.createRadialGradient(x, y, radius * 0.6, x, y, radius * 3.6);
  glow.addColorStop(0, "rgba(255, 246, 220, 0.6)");
  glow.addColorStop(0.45, "rgba(255, 240, 205, 0.18)");
  glow.addColorStop(1, "rgba(255, 240, 205, 0)");
  context.fillStyle = glow;
  context.fillRect(0, 0, width, height);
  context.fillStyle = "#fff4d9";
  disc(context, x, y, radius);
}

function drawShapes({ context, width, height, palette: { accents }, random }: Scene, count: number) {
  const unit = Math.min(width, height);
  for (let index = 0; index < count; index += 1) {
    const [x, y, size] = [
      random() * width,
      random() * height * 0.8,
      unit * (0.02 + random() * random() * 0.16),
    ];
    context.globalAlpha = 0.1 + random() * 0.28;
    context.fillStyle = pickOne(random, accents);
    context.strokeStyle = context.fillStyle;
    context.lineWidth = Math.max(1.5, unit * 0.004);
    const shape = Math.floor(random() * 4);
    if (shape === 0) disc(context, x, y, size);
    else if (shape === 1) ring(context, x, y, size);
    else polygon(context, { x, y, radius: size, sides: shape === 2 ? 3 : 6, turn: random() * Math.PI });
  }
  context.globalAlpha = 1;
}

function drawHills({ context, width, height, palette: { hue }, random }: Scene) {
  for (let layer = 0; layer < 4; layer += 1) {
    const base = height * (0.6 + layer * 0.1);
    const swell = height * (0.09 - layer * 0.014);
    const [first, second, phase] = [1.2 + random() * 1.6, 2.6 + random() * 2.4, random() * Math.PI * 2];
    context.fillStyle = `hsla(${hue}, ${54 - layer * 4}%, ${30 - layer * 6}%, ${0.6 + layer * 0.12})`;
    context.beginPath();
    context.moveTo(0, height);
    const step = Math.max(4, width / 160);
    for (let x = 0; x <= width + step; x += step) {
      const turn = (x / width) * Math.PI * 2;
      context.lineTo(
        x,
        base + Math.sin(turn * first + phase) * swell + Math.sin(turn * second + phase * 2) * swell * 0.35,
      );
    }
    context.lineTo(width, height);
    context.closePath();
    context.fill();
  }
}

/** Draws a figure in the middle; the corners and everything around it are left alone. */
function drawEmblem(
  { context, width, height, palette: { sky, accents, ink }, random }: Scene,
  count: number,
) {
  const unit = Math.min(width, height);
  const [x, y, radius] = [width / 2, height / 2, unit * 0.38];
  const petals = 5 + Math.floor(random() * 5);
  for (let petal = 0; petal < petals; petal += 1) {
    const turn = (petal / petals) * Math.PI * 2 + random() * 0.1;
    context.fillStyle = accents[petal % accents.length] ?? accents[0];
    context.globalAlpha = 0.92;
    disc(context, x + Math.cos(turn) * radius * 0.6, y + Math.sin(turn) * radius * 0.6, radius * 0.36);
  }
  context.globalAlpha = 1;
  const face = context.createRadialGradient(
    x - radius * 0.3,
    y - radius * 0.3,
    radius * 0.1,
    x,
    y,
    radius * 0.8,
  );
  face.addColorStop(0, sky[2]);
  face.addColorStop(1, sky[1]);
  context.fillStyle = face;
  disc(context, x, y, radius * 0.68);
  for (let index = 0; index < count; index += 1) {
    const [turn, reach] = [random() * Math.PI * 2, Math.sqrt(random()) * radius * 0.55];
    context.globalAlpha = 0.3 + random() * 0.5;
    context.fillStyle = random() < 0.3 ? ink : pickOne(random, accents);
    const sides = 3 + Math.floor(random() * 4);
    polygon(context, {
      x: x + Math.cos(turn) * reach,
      y: y + Math.sin(turn) * reach,
      radius: radius * (0.03 + random() * 0.09),
      sides,
      turn,
    });
  }
  context.globalAlpha = 1;
}

/** Hues that are not mistaken for a key color or for another cell. */
const SHEET_HUES = [8, 28, 46, 205, 222, 258] as const;

/**
 * Draws a figure in each cell; its sides, hue, lightness, size and turn depend on the row and on the cell's index. `sandbox-2`
 * draws like models that do not keep to the grid: everything too small and toward one corner, where the grid would cut through
 * figures.
 */
function drawSheet(
  context: SKRSContext2D,
  request: ImageRequest,
  { rows, columns }: NonNullable<ImageRequest["sheet"]>,
  random: Random,
) {
  const [cellWidth, cellHeight] = [request.width / columns, request.height / rows];
  const unit = Math.min(cellWidth, cellHeight);
  const isCareless = request.model === "sandbox-2";
  const radius = unit * (isCareless ? 0.26 : 0.34);
  const shrink = isCareless ? 0.8 : 1;
  const turn = random() * 0.6;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const index = row * columns + column;
      // `sandbox-gappy` leaves the second cell empty and draws a fragment in the third.
      if (request.model === "sandbox-gappy" && index === 1) continue;
      const part = request.model === "sandbox-gappy" && index === 2 ? 0.25 : 1;
      const x = (column + 0.5) * cellWidth * shrink;
      const y = (row + 0.5) * cellHeight * shrink;
      const hue = SHEET_HUES[index % SHEET_HUES.length];
      context.fillStyle = `hsl(${hue}, 82%, ${38 + (row % 3) * 12}%)`;
      polygon(context, {
        x,
        y,
        radius: radius * part * (0.8 + (index % 5) * 0.05),
        sides: 3 + (index % 6),
        turn: turn + index * 0.4,
      });
      context.fillStyle = "#fffdf7";
      disc(context, x, y, radius * part * 0.28);
      context.fillStyle = "#1b1f24";
      disc(context, x + radius * part * 0.08, y, radius * part * 0.14);
    }
  }
}

/**
 * Draws a frame for each adapter of a weight other than 0, one inside the other. Its color follows from the LoRA's digest, its
 * width from the weight.
 */
function drawFrames(context: SKRSContext2D, width: number, height: number, adapters: Adapter[]) {
  const unit = Math.min(width, height) * 0.02;
  let inset = 0;
  for (const { digest, weight } of adapters) {
    const line = unit * weight;
    if (line === 0) continue;
    context.strokeStyle = `hsl(${Number.parseInt(digest.slice(0, 8), 16) % 360}, 78%, 56%)`;
    context.lineWidth = line;
    context.strokeRect(
      inset + line / 2,
      inset + line / 2,
      width - 2 * inset - line,
      height - 2 * inset - line,
    );
    inset += line;
  }
}

function drawCaption(scene: Scene, prompt: string, variant: number, adapters: Adapter[]) {
  const { context, width, height } = scene;
  drawWords(scene, prompt);
  const unit = Math.min(width, height);
  context.font = `500 ${Math.max(11, unit * 0.02)}px ${FONT}`;
  context.fillStyle = "rgba(255, 253, 247, 0.78)";
  const drawnWith = adapters.map(({ digest, weight }) => `  ·  LoRA ${digest.slice(0, 6)} × ${weight}`);
  context.fillText(
    // Omits the model, because a comparison must not reveal it before it is judged.
    `${width} × ${height}  ·  variant ${variant + 1}${drawnWith.join("")}`,
    unit * 0.06,
    height - unit * 0.06 * 0.7,
  );
}

function drawWords({ context, width, height, palette: { ink } }: Scene, prompt: string) {
  const unit = Math.min(width, height);
  const margin = unit * 0.06;
  const text = prompt.replace(UNDRAWABLE, "").replace(/\s+/g, " ").trim().slice(0, 140);
  let size = unit * (text.length < 28 ? 0.085 : text.length < 70 ? 0.062 : 0.046);
  context.font = `750 ${size}px ${FONT}`;
  let lines = wrap(context, text, width - margin * 2);
  while (lines.length > 4 && size > 12) {
    size *= 0.85;
    context.font = `750 ${size}px ${FONT}`;
    lines = wrap(context, text, width - margin * 2);
  }
  const shown = lines.slice(0, 5);
  context.textBaseline = "alphabetic";
  let y = height - margin - unit * 0.05 - (shown.length - 1) * size * 1.18;
  for (const line of shown) {
    context.fillStyle = ink;
    context.globalAlpha = 0.55;
    context.fillText(line, margin + size * 0.04, y + size * 0.05);
    context.globalAlpha = 1;
    context.fillStyle = "#fffdf7";
    context.fillText(line, margin, y);
    y += size * 1.18;
  }
}

function wrap(context: SKRSContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && context.measureText(longer).width > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return line ? [...lines, line] : lines;
}

function disc(context: SKRSContext2D, x: number, y: number, radius: number) {
  context.beginPath();
  context.arc(x, y, radius, 0, Math.PI * 2);
  context.fill();
}

function ring(context: SKRSContext2D, x: number, y: number, radius: number) {
  context.beginPath();
  context.arc(x, y, radius, 0, Math.PI * 2);
  context.stroke();
}

type Polygon = { x: number; y: number; radius: number; sides: number; turn: number };
function polygon(context: SKRSContext2D, { x, y, radius, sides, turn }: Polygon) {
  context.beginPath();
  for (let side = 0; side < sides; side += 1) {
    const angle = turn + (side / sides) * Math.PI * 2;
    context.lineTo(x + Math.cos(angle) * radius, y + Math.sin(angle) * radius);
  }
  context.closePath();
  context.fill();
}
