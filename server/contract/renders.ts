import { z } from "zod";

export const RENDER_VIEWS = ["front", "three-quarter", "right", "back", "left", "top", "bottom"] as const;
export const RENDER_OUTPUTS = ["image", "views", "reference_bundle"] as const;
const EDGE = { min: 128, max: 2048, default: 640 } as const;

const edge = (which: string) =>
  z
    .int()
    .min(EDGE.min)
    .max(EDGE.max)
    .default(EDGE.default)
    .describe(`${which} of each view, ${EDGE.min} to ${EDGE.max} pixels.`);

export const RenderInput = z.strictObject({
  source: z.strictObject({
    artifactId: z.string().min(1).describe("An artifact of the project: a GLB file."),
  }),
  view: z
    .enum(["auto", ...RENDER_VIEWS])
    .default("auto")
    .describe(
      "The view of `image`, and the first view of the other kinds. `auto` is three-quarter for `image`, and the standard order for the others.",
    ),
  output: z
    .enum(RENDER_OUTPUTS)
    .default("reference_bundle")
    .describe(
      "`image`: one view. `views`: the five standard views, plus the requested one if it is not among them. `reference_bundle`: these with a labelled contact sheet and a manifest.",
    ),
  width: edge("Width"),
  height: edge("Height"),
  framing: z
    .enum(["fit", "tight"])
    .default("fit")
    .describe("`fit`: one scale for all views, with a margin. `tight`: each view as large as it can be."),
  style: z
    .enum(["material", "neutral", "clay", "flat"])
    .default("material")
    .describe(
      "`material`: the file's materials in studio light. `neutral` and `clay`: only the shape. `flat`: base colours without light.",
    ),
  background: z.enum(["light", "dark", "transparent"]).default("light"),
});
export type RenderInput = z.infer<typeof RenderInput>;

const Vector = z.array(z.number()).length(3);
export const MeshFacts = z.object({
  triangles: z.int(),
  vertices: z.int(),
  meshes: z.int(),
  primitives: z.int(),
  materials: z.int(),
  textures: z.int(),
  boundingBox: z.object({ min: Vector, max: Vector }),
  extensions: z.array(z.string()),
});

export const RenderOutput = z.object({
  views: z.array(
    z.object({
      view: z.enum(RENDER_VIEWS),
      filename: z.string(),
      width: z.int(),
      height: z.int(),
      coverage: z.number().describe("How much of the picture the model fills, 0 to 1."),
    }),
  ),
  contactSheet: z.object({ filename: z.string(), width: z.int(), height: z.int() }).nullable(),
  manifest: z.object({ filename: z.string() }).nullable(),
  renderer: z.object({ name: z.string(), version: z.string() }),
  source: z.object({ artifactId: z.string(), sha256: z.string() }),
  mesh: MeshFacts,
  technicalQa: z.object({
    verdict: z.enum(["ok", "warnings"]),
    warnings: z.array(z.string()),
  }),
});
export type RenderOutput = z.infer<typeof RenderOutput>;
