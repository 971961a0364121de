import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Colour = { rgb: [number, number, number]; alpha: number };

const css = readFileSync(new URL("globals.css", import.meta.url), "utf8");

/** The colours of a rule, in linear sRGB. The arithmetic is CSS Color 4's. */
function coloursOf(selector: string): Map<string, Colour> {
  const [, rule = ""] = css.split(`\n${selector} {`);
  const body = rule.slice(0, rule.indexOf("\n}"));
  const found = body.matchAll(/--([\w-]+): oklch\(([\d.]+) ([\d.]+) ([\d.]+)(?: \/ ([\d.]+))?\);/g);
  return new Map(
    [...found].map(([, name = "", l, c, h, alpha = "1"]) => [
      name,
      { rgb: toLinear(Number(l), Number(c), (Number(h) * Math.PI) / 180), alpha: Number(alpha) },
    ]),
  );
}

function toLinear(lightness: number, chroma: number, hue: number): Colour["rgb"] {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (value: number) => Math.min(1, Math.max(0, value));
  return [
    clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** WCAG 2's contrast of two opaque colours. */
function contrast(one: Colour["rgb"], other: Colour["rgb"]): number {
  const luminance = ([r, g, b]: Colour["rgb"]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const toGamma = (value: number) => (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
const fromGamma = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** A colour over an opaque one, mixed as browsers do: in gamma-encoded sRGB. */
function over({ rgb, alpha }: Colour, below: Colour["rgb"]): Colour["rgb"] {
  const mix = (at: 0 | 1 | 2) => fromGamma(alpha * toGamma(rgb[at]) + (1 - alpha) * toGamma(below[at]));
  return [mix(0), mix(1), mix(2)];
}

const GROUNDS = ["canvas", "sidebar", "surface", "raised", "sunken", "hover"];

for (const [theme, selector] of [
  ["light", ":root"],
  ["dark", ".dark"],
] as const) {
  const colours = coloursOf(selector);
  const of = (name: string): Colour => {
    const colour = colours.get(name);
    if (!colour) throw new Error(`--${name} is not a colour of the ${theme} theme.`);
    return colour;
  };
  const between = (name: string, ground: string) => contrast(of(name).rgb, of(ground).rgb);

  test(`${theme}: text reaches 4.5:1 on every surface`, () => {
    for (const name of ["text", "text-muted", "faint", "link", "good", "busy", "warn", "bad", "held-text"])
      for (const ground of GROUNDS)
        expect(between(name, ground), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });

  test(`${theme}: text reaches 4.5:1 on selected rows, on its own tint and on buttons`, () => {
    for (const ground of ["sidebar", "surface"])
      for (const name of ["text", "text-muted"])
        expect(
          contrast(of(name).rgb, over(of("selected"), of(ground).rgb)),
          `${name} on selected ${ground}`,
        ).toBeGreaterThanOrEqual(4.5);
    for (const tone of ["good", "busy", "warn", "bad"]) {
      expect(between(tone, `${tone}-soft`), tone).toBeGreaterThanOrEqual(4.5);
      expect(between("text", `${tone}-soft`), `text on ${tone}`).toBeGreaterThanOrEqual(4.5);
    }
    expect(between("on-primary", "primary")).toBeGreaterThanOrEqual(4.5);
    expect(between("on-primary", "primary-hover")).toBeGreaterThanOrEqual(4.5);
    expect(between("on-held", "brass")).toBeGreaterThanOrEqual(4.5);
    for (const danger of ["danger", "danger-hover"])
      expect(contrast([1, 1, 1], of(danger).rgb), danger).toBeGreaterThanOrEqual(4.5);
  });

  test(`${theme}: edges of controls, focus rings and chart series reach 3:1`, () => {
    for (const ground of ["canvas", "surface", "raised"])
      for (const name of ["line-strong", "focus", "primary"])
        expect(between(name, ground), `${name} on ${ground}`).toBeGreaterThanOrEqual(3);
    for (const series of ["1", "2", "3", "4", "5", "6", "rest"])
      expect(between(`series-${series}`, "surface"), series).toBeGreaterThanOrEqual(3);
  });

  test(`${theme}: a card differs from the page, and the page from the sidebar`, () => {
    expect(between("surface", "canvas")).toBeGreaterThanOrEqual(theme === "dark" ? 1.08 : 1.04);
    expect(between("canvas", "sidebar")).toBeGreaterThanOrEqual(1.02);
    if (theme === "dark") expect(between("raised", "canvas")).toBeGreaterThanOrEqual(1.18);
  });
}
