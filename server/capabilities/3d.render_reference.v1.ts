import { createHash } from "node:crypto";
import {
  type CameraView,
  MAX_FILE_BYTES,
  RENDER_SECONDS,
  RENDERER,
  Refused,
  type Rendered,
  renderModel,
  STANDARD_VIEWS,
} from "@/server/compute/rendering";
import { RENDER_VIEWS, RenderInput, RenderOutput } from "@/server/contract/renders";
import {
  CapabilityFault,
  defineCapability,
  durable,
  type OutputFile,
  type RunOutcome,
  type SourceFile,
} from "./define";

const MANIFEST_SCHEMA = "service.reference-manifest.v1";
const GLB = "model/gltf-binary";

/** The views of an input in drawing order; a view requested by name comes first. */
export function viewsOf({ view, output }: RenderInput): CameraView[] {
  if (output === "image") return [view === "auto" ? "three-quarter" : view];
  if (view === "auto") return [...STANDARD_VIEWS];
  return [view, ...STANDARD_VIEWS.filter((standard) => standard !== view)];
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function toOutcome(input: RenderInput, source: SourceFile, drawn: Rendered): RunOutcome<RenderOutput> {
  const { warnings, ...mesh } = drawn.mesh;
  const technicalQa = { verdict: warnings.length > 0 ? ("warnings" as const) : ("ok" as const), warnings };
  const files: OutputFile[] = drawn.views.map(({ view, png }) => ({
    bytes: png,
    mediaType: "image/png",
    kind: "reference_view",
    filename: `${view}.png`,
    label: view,
  }));
  if (drawn.sheet)
    files.push({
      bytes: drawn.sheet.png,
      mediaType: "image/png",
      kind: "reference_contact_sheet",
      filename: "contact-sheet.png",
      label: "contact sheet",
    });
  const isBundle = input.output === "reference_bundle";
  const { source: _, ...request } = input;
  if (isBundle) {
    const manifest = {
      schemaVersion: MANIFEST_SCHEMA,
      renderer: RENDERER,
      writtenBy: drawn.writtenBy,
      source: { artifactId: source.artifactId, sha256: source.sha256, byteLength: source.bytes.byteLength },
      request,
      mesh,
      technicalQa,
      cameras: drawn.views.map(({ camera }) => camera),
      files: files.map(({ filename, kind, mediaType, bytes }) => ({
        filename,
        kind,
        mediaType,
        sha256: sha256(bytes),
        byteLength: bytes.byteLength,
      })),
    };
    files.push({
      bytes: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`),
      mediaType: "application/json",
      kind: "reference_manifest",
      filename: "manifest.json",
      label: "manifest",
    });
  }
  const { width, height } = input;
  return {
    typedOutput: {
      views: drawn.views.map(({ view, coverage }) => ({
        view,
        filename: `${view}.png`,
        width,
        height,
        coverage,
      })),
      contactSheet: drawn.sheet && {
        filename: "contact-sheet.png",
        width: drawn.sheet.width,
        height: drawn.sheet.height,
      },
      manifest: isBundle ? { filename: "manifest.json" } : null,
      renderer: { ...RENDERER },
      source: { artifactId: source.artifactId, sha256: source.sha256 },
      mesh,
      technicalQa,
    },
    files,
    media: { renderer: `${RENDERER.name} ${RENDERER.version}`, views: drawn.views.length },
  };
}

export default defineCapability<RenderInput, RenderOutput>({
  key: "3d.render_reference.v1",
  title: "Reference pictures of a 3D model",
  description:
    "Draws a GLB model from its standard sides in studio light, with a contact sheet and a manifest of digests, cameras and findings. Runs on our own renderer without a graphics card: the same model gives the same bytes.",
  modality: "mesh",
  family: "geometry",
  category: "generation",
  modes: ["job_async"],
  input: RenderInput,
  output: RenderOutput,
  inputConstraints: {},
  features: {
    syncInvoke: { supported: false },
    renderer: RENDERER.name,
    standardViews: [...STANDARD_VIEWS],
    views: [...RENDER_VIEWS],
    technicalQa: true,
    provenanceManifest: true,
    providerBacked: false,
    modelBacked: false,
    deterministic: true,
    executionClass: "local",
  },
  constraints: {
    source: {
      mediaTypes: [GLB],
      maxBytes: MAX_FILE_BYTES,
      maxVertices: 5_000_000,
      maxTexturePixels: 40_000_000,
      maxRenderSeconds: RENDER_SECONDS,
    },
    dimensions: { min: 128, max: 2048 },
  },
  inputMediaTypes: [GLB],
  outputKind: "artifact",
  outputMediaType: "image/png",
  intentExamples: [
    "Render this GLB from the front, side and back",
    "Make a contact sheet of my 3D model",
    "Preview pictures of a mesh for review",
    "Turn a 3D model into reference images with a transparent background",
  ],
  synonyms: [
    "render",
    "preview",
    "thumbnail",
    "turnaround",
    "screenshot",
    "glb",
    "gltf",
    "mesh",
    "views",
    "contact sheet",
    "clay render",
    "review",
    "of a mesh",
    "of my glb",
    "of a 3d model",
    "angles",
  ],
  taskTags: ["3d", "render", "reference", "review", "preview"],
  trialEligible: false,
  readySummary: "PNG views of a GLB model, a contact sheet and a manifest. Free, with no account to connect.",
  durable: durable(300, 900),
  examples: [
    { title: "A reference bundle", input: { source: { artifactId: "art_model" } } },
    {
      title: "One clay picture from the front, without a background",
      input: {
        source: { artifactId: "art_model" },
        output: "image",
        view: "front",
        style: "clay",
        background: "transparent",
        framing: "tight",
      },
    },
    {
      title: "Large views in plain colours",
      input: {
        source: { artifactId: "art_model" },
        output: "views",
        width: 1024,
        height: 1024,
        style: "flat",
      },
    },
  ],
  execute: {
    local: true,
    engine: `${RENDERER.name} ${RENDERER.version}`,
    sources: ({ source }) => [
      {
        artifactId: source.artifactId,
        field: ["input", "source", "artifactId"],
        mediaTypes: [GLB],
        maxBytes: MAX_FILE_BYTES,
      },
    ],
    async run(input, signal, [source]) {
      if (!source) throw new Error("a run needs its source");
      const { width, height, framing, style, background, output } = input;
      const views = viewsOf(input);
      const sheet = output === "reference_bundle";
      try {
        const drawn = await renderModel(
          source.bytes,
          { views, sheet, width, height, framing, style, background },
          signal,
        );
        return toOutcome(input, source, drawn);
      } catch (cause) {
        if (cause instanceof Refused)
          throw new CapabilityFault("InvalidInput", cause.message, { field: "input.source.artifactId" });
        throw cause;
      }
    },
  },
});
