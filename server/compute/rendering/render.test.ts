import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { campaign } from "@/testing/campaign";
import { placeCameras } from "./camera";
import { draw } from "./draw";
import { readScene } from "./gltf/assemble";
import { renderModel } from "./index";
import { MAX_DRAW_STEPS } from "./limits";
import { render } from "./render";
import { CAMERA_VIEWS, RENDERER, Refused, type Rendered, type RenderRequest, STYLES } from "./request";
import { blankModel, box, TEST_MODELS, toGlb } from "./test/models";
import { facesOf, overlap, silhouette } from "./test/silhouette";

const fixture = (name: string) => async () =>
  new Uint8Array(readFileSync(new URL(`test/fixtures/${name}.glb`, import.meta.url)));
const ALL = {
  ...TEST_MODELS,
  monkey: fixture("monkey"),
  hand: fixture("hand"),
  controller: fixture("controller"),
};
const REQUEST: RenderRequest = {
  views: [...CAMERA_VIEWS],
  sheet: false,
  width: 256,
  height: 256,
  framing: "tight",
  style: "material",
  background: "transparent",
};
const PLAIN = { width: 160, height: 128, framing: "fit", background: "dark" } as const;
const sha256 = (bytes: Uint8Array | undefined) =>
  createHash("sha256")
    .update(bytes ?? "")
    .digest("hex");

async function alphaOf(png: Uint8Array): Promise<Uint8Array> {
  const { data } = await sharp(png).extractChannel("alpha").raw().toBuffer({ resolveWithObject: true });
  return new Uint8Array(data);
}

const models = Object.entries(ALL).map(([name, make], place) => ({ name, make, place }));
test("there are enough models to draw every view and every style", () => {
  expect(models.length).toBeGreaterThanOrEqual(Math.max(CAMERA_VIEWS.length, STYLES.length));
});

describe.each(models)("$name", ({ name, make, place }) => {
  test("a picture and an independent projection of the triangles overlap by at least 98 % in each view", async () => {
    const glb = await make();
    const wanted = campaign.inTurn(CAMERA_VIEWS, place);
    const [{ views }, faces] = await Promise.all([render(glb, { ...REQUEST, views: wanted }), facesOf(glb)]);
    // Glass has an opacity of 0.35, which lowers the threshold of half a pixel.
    const half = name.startsWith("glass") ? 0.5 * 0.35 * 255 : 127.5;
    const overlaps: Record<string, number> = {};
    for (const { view, png, camera } of views) {
      const ours = (await alphaOf(png)).map((alpha) => (alpha >= half ? 1 : 0));
      overlaps[view] = overlap(ours, silhouette(faces, camera, REQUEST.width, REQUEST.height));
    }
    expect(Object.keys(overlaps)).toEqual(wanted);
    for (const [view, share] of Object.entries(overlaps)) expect(share, view).toBeGreaterThanOrEqual(0.98);
  }, 120_000);

  test("the model is drawn from every side in every style", async () => {
    const glb = await make();
    const wanted = campaign.inTurn(CAMERA_VIEWS, place + 1);
    for (const style of campaign.inTurn(STYLES, place)) {
      const { views } = await render(glb, { ...REQUEST, ...PLAIN, style, views: wanted });
      expect(views).toHaveLength(wanted.length);
      for (const { png, coverage } of views) {
        const { width, height, channels, format } = await sharp(png).metadata();
        expect([format, width, height, channels]).toEqual(["png", 160, 128, 3]);
        expect(coverage).toBeGreaterThan(0.001);
      }
    }
  }, 120_000);
});

/** A request that is small enough to be drawn many times. */
const SMALL: RenderRequest = {
  ...REQUEST,
  views: ["three-quarter", "front"],
  sheet: true,
  width: 128,
  height: 128,
};
const digests = (rendered: Rendered) => [...rendered.views, rendered.sheet].map((file) => sha256(file?.png));

describe("reproducible drawing", () => {
  const glb = fixture("monkey");

  test("one request gives the same bytes twice, on a thread, and in another process", {
    tags: "long",
  }, async () => {
    const first = digests(await render(await glb(), SMALL));
    expect(digests(await render(await glb(), SMALL))).toEqual(first);
    expect(digests(await renderModel(await glb(), SMALL, new AbortController().signal))).toEqual(first);
    const path = fileURLToPath(new URL("test/fixtures/monkey.glb", import.meta.url));
    const child = fork(fileURLToPath(new URL("test/digest-process.ts", import.meta.url)), [path], {
      execArgv: ["--import", "tsx"],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.send(SMALL);
    const [there] = await once(child, "message");
    expect(there).toEqual(first);
  });

  test("the bytes are these on every machine, as long as the renderer has this version", async () => {
    const { views } = await render(await glb(), { ...SMALL, sheet: false, background: "light" });
    expect([RENDERER.version, ...views.map(({ png }) => sha256(png))]).toEqual([
      "1.0.0",
      "fcfb6bde85f20ab7362cd687430da3ce4167cb3c2b6b52c25079892bed033979",
      "8dff2df103b85bb97f9121f1e947efc7d712b8cd9c8841decbf335f4edfb8d1d",
    ]);
  });

  test("a view with the framing fit is the same, whichever others are requested", async () => {
    const fit = { ...SMALL, framing: "fit" } as const;
    const [both, one] = await Promise.all([
      render(await glb(), fit),
      render(await glb(), { ...fit, views: ["front"], sheet: false }),
    ]);
    expect(sha256(one.views[0]?.png)).toBe(sha256(both.views[1]?.png));
  });
});

test("a drawing's steps are equal for the same file, grow with the picture, and are refused above the limit", {
  tags: "long",
}, async () => {
  const scene = await readScene(await TEST_MODELS["textured cube"]!(), "clay");
  const [eye] = placeCameras(scene, ["front"], REQUEST);
  if (!eye) throw new Error("a view has a camera");
  const stepsAt = (size: number) => {
    const work = { steps: 0 };
    draw(scene, eye, { width: size, height: size, style: "clay", work });
    return work.steps;
  };
  expect(stepsAt(256)).toBe(stepsAt(256));
  expect(stepsAt(512)).toBeGreaterThan(3 * stepsAt(256));
  const used = { steps: MAX_DRAW_STEPS - stepsAt(256) };
  draw(scene, eye, { width: 256, height: 256, style: "clay", work: used });
  expect(() => draw(scene, eye, { width: 256, height: 256, style: "clay", work: used })).toThrow(Refused);
});

describe("the drawing thread", () => {
  test("a drawing is ended at the deadline, and the next file is drawn", { tags: "long" }, async () => {
    const glb = await fixture("controller")();
    const never = new AbortController().signal;
    await expect(renderModel(glb, SMALL, never, 1)).rejects.toMatchObject({ name: "OutOfTime" });
    expect((await renderModel(glb, SMALL, never)).views).toHaveLength(2);
  });

  test("a drawing ends when its caller stops waiting", async () => {
    const wait = new AbortController();
    const drawing = renderModel(await fixture("controller")(), SMALL, wait.signal);
    wait.abort("canceled");
    await expect(drawing).rejects.toBe("canceled");
  });
});

test("a sheet of two small views shows the first one unchanged, with dark letters below", async () => {
  const glb = await fixture("monkey")();
  const { sheet, views } = await render(glb, { ...SMALL, views: ["front", "back"], background: "light" });
  expect(sheet).toMatchObject({ width: 256, height: 128 + 27 });
  const [whole, front] = await Promise.all(
    [sheet?.png, views[0]?.png].map((png) => sharp(png).raw().toBuffer({ resolveWithObject: true })),
  );
  const row = (image: typeof whole, y: number) =>
    image?.data.subarray(y * (image.info.width ?? 0) * 3, y * (image.info.width ?? 0) * 3 + 128 * 3);
  for (let y = 0; y < 128; y++) expect(row(whole, y)).toEqual(row(front, y));
  const label = whole?.data.subarray(128 * 256 * 3) ?? [];
  expect([...label].filter((byte) => byte < 120).length).toBeGreaterThan(60);
});

describe("light", () => {
  const centerOf = async (request: Partial<RenderRequest>, color: [number, number, number, number]) => {
    const { document, add } = blankModel();
    add(box(), color);
    const { views } = await render(await toGlb(document), {
      ...SMALL,
      sheet: false,
      views: ["front"],
      ...request,
    });
    const { data, info } = await sharp(views[0]?.png).raw().toBuffer({ resolveWithObject: true });
    const at = (64 * 128 + 64) * info.channels;
    return [...data.subarray(at, at + info.channels)];
  };

  test("flat pictures have the file's own colors", async () => {
    // 0.5 of linear light is 188 in sRGB.
    expect(await centerOf({ style: "flat", background: "dark" }, [1, 0.5, 0, 1])).toEqual([255, 188, 0]);
  });

  test("neutral and clay pictures are the same for different colors of the file", async () => {
    for (const style of ["neutral", "clay"] as const)
      expect(await centerOf({ style }, [0, 1, 0, 1])).toEqual(await centerOf({ style }, [1, 0, 0, 1]));
  });
});
