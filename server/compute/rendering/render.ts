import { cameraOf, placeCameras } from "./camera";
import { coverageOf, develop } from "./develop";
import { draw, type LinearPicture } from "./draw";
import { readScene } from "./gltf/assemble";
import { codecVersions } from "./gltf/textures";
import { ENCODER, writePng } from "./png";
import { type CameraView, Refused, type Rendered, type RenderedView, type RenderRequest } from "./request";
import { contactSheet } from "./sheet";

/**
 * Draws a GLB file on this thread, which takes long; `renderModel` uses a worker thread. Throws `Refused` if the file cannot be
 * drawn.
 */
export async function render(bytes: Uint8Array, request: RenderRequest): Promise<Rendered> {
  const { width, height, style, background } = request;
  const scene = await readScene(bytes, style).catch(asRefusal);
  const views: RenderedView[] = [];
  const pictures: { view: CameraView; picture: LinearPicture }[] = [];
  const work = { steps: 0 };
  for (const eye of placeCameras(scene, request.views, request)) {
    const picture = draw(scene, eye, { width, height, style, work });
    views.push({
      view: eye.view,
      png: writePng(develop(picture, background)),
      camera: cameraOf(scene, eye),
      coverage: coverageOf(picture),
    });
    if (request.sheet) pictures.push({ view: eye.view, picture });
  }
  if (views.every(({ coverage }) => coverage === 0))
    scene.mesh.warnings.push("Nothing is visible: the model is thinner than a sample, or faces away.");
  const sheet = request.sheet ? contactSheet(pictures, background) : null;
  return {
    views,
    sheet: sheet && {
      png: writePng(develop(sheet, background)),
      width: sheet.width,
      height: sheet.height,
    },
    mesh: scene.mesh,
    writtenBy: {
      png: ENCODER,
      ...(scene.mesh.textures > 0 ? await codecVersions() : {}),
    },
  };
}

/** Turns every error of reading into a refusal: a file's contents are unchecked until they are read, so the file is at fault. */
function asRefusal(cause: unknown): never {
  if (cause instanceof Refused) throw cause;
  const said = cause instanceof Error ? cause.message.slice(0, 200) : "it is broken";
  throw new Refused(`The file cannot be read: ${said}`);
}
