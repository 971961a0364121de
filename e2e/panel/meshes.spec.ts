import type { Page } from "@playwright/test";
import { TEST_MODELS } from "@/server/compute/rendering/test/models";
import { ended, submit } from "../world";
import { expect, jobPath, open, test } from "./panel";

let meshJob = "";
test.beforeAll(async () => {
  const { artifacts } = await ended(
    (await submit({ capability: "image.generate.v1", input: { prompt: "A pyramid" } })).jobId,
  );
  const inputArtifactIds = [artifacts[0]?.artifactId];
  ({ jobId: meshJob } = await ended(
    (await submit({ capability: "model.generate.3d.v1", input: { inputArtifactIds } })).jobId,
  ));
});

async function showMesh(page: Page): Promise<void> {
  await open(page, jobPath(meshJob));
  await page
    .getByRole("button", { name: /in 3D$/ })
    .first()
    .click();
}

test("a mesh in a browser without WebGL is replaced by a sentence", async ({ page }) => {
  await page.addInitScript(() => {
    for (const canvas of [HTMLCanvasElement, OffscreenCanvas]) {
      const { getContext } = canvas.prototype;
      Object.assign(canvas.prototype, {
        getContext(this: never, kind: string, ...rest: []) {
          return kind.startsWith("webgl") ? null : getContext.call(this, kind as never, ...rest);
        },
      });
    }
  });
  await showMesh(page);
  await expect(
    page.getByText("This browser can't display the mesh. Download it to open it in another program."),
  ).toBeVisible();
});

for (const name of ["draco", "meshopt and quantized"])
  test(`a mesh compressed with ${name} is decoded without asking another host`, { tag: "@long" }, async ({
    page,
  }) => {
    const body = Buffer.from((await TEST_MODELS[name]?.()) ?? []);
    await page.route(/\/artifacts\//, async (route) => {
      const answer = await route.fetch();
      if (answer.headers()["content-type"] !== "model/gltf-binary")
        return route.fulfill({ response: answer });
      return route.fulfill({ contentType: "model/gltf-binary", body });
    });
    await showMesh(page);
    // The software renderer needs more time.
    await expect(page.locator("model-viewer")).toHaveAttribute("data-state", "loaded", { timeout: 120_000 });
  });

test("the decoders of compressed meshes and textures are served here, each with its license", async ({
  request,
}) => {
  for (const path of [
    "draco/draco_decoder.wasm",
    "draco/draco_wasm_wrapper.js",
    "basis/basis_transcoder.wasm",
    "basis/basis_transcoder.js",
  ])
    expect((await request.get(`/decoders/${path}`)).status()).toBe(200);
  for (const name of ["draco", "basis"])
    expect(await (await request.get(`/decoders/${name}/README.md`)).text()).toContain("Apache License 2.0");
});
