import sharp from "sharp";
import { expect, test } from "vitest";
import { checkGlb } from "@/server/capabilities/mesh/glb";
import { MESH_PROFILES } from "@/server/contract/meshes";
import { validateGlb } from "@/testing/glb";
import { turnMesh } from "./mesh";

type Request = Parameters<typeof turnMesh>[0];

/** A picture with a figure of this width in the middle. */
async function picture(width: number, background: string) {
  const svg = `<svg width="200" height="200"><rect width="200" height="200" fill="${background}"/><rect x="${100 - width / 2}" y="20" width="${width}" height="160" fill="#c04020"/></svg>`;
  const bytes = await sharp(Buffer.from(svg)).png().toBuffer();
  return { mediaType: "image/png", base64: bytes.toString("base64") };
}

const turn = async (more: Partial<Request>) => {
  const { mesh } = await turnMesh({
    model: "sandbox-1",
    images: [await picture(80, "white")],
    profile: "toy_default",
    texture: null,
    ...more,
  });
  return Buffer.from(mesh.base64, "base64");
};

test.each(
  MESH_PROFILES.flatMap((profile) => [
    [profile, null] as const,
    [profile, { prompt: "Oxidised copper" }] as const,
  ]),
)("the Khronos validator accepts the profile %s with the texture %j", async (profile, texture) => {
  const bytes = await turn({ profile, texture });
  const report = await validateGlb(bytes);
  expect(report.problems).toEqual([]);
  const figures = checkGlb(bytes);
  expect(figures).toMatchObject({ meshes: 1, textures: texture ? 1 : 0 });
  expect([figures.vertices, figures.triangles]).toEqual([report.vertices, report.triangles]);
});

test("a file that is not a picture still becomes a valid mesh", async () => {
  const images = [{ mediaType: "image/png", base64: Buffer.from("no picture").toString("base64") }];
  const bytes = await turn({ images, texture: {} });
  expect((await validateGlb(bytes)).problems).toEqual([]);
});

test("the same request gives the same bytes, and other pictures, profiles and prompts give other bytes", async () => {
  const reference = await picture(80, "white");
  const made = await Promise.all([
    turn({}),
    turn({ profile: "draft_fast" }),
    turn({ images: [await picture(120, "white")] }),
    turn({ texture: {} }),
    turn({ texture: { prompt: "gold" } }),
    turn({ texture: { image: await picture(80, "black") } }),
  ]);
  expect((await turn({ images: [reference] })).equals(made[0])).toBe(true);
  expect(new Set(made.map((bytes) => bytes.toString("base64"))).size).toBe(made.length - 1);
});

test.each(["white", "none"])(
  "the width and depth of a mesh have the ratio of the figures on %s, from the front and from the side",
  async (background) => {
    const images = [await picture(100, background), await picture(50, background)];
    const { size } = await validateGlb(await turn({ images, profile: "hero_hd" }));
    const [x = 0, y = 0, z = 0] = size;
    expect(y).toBeCloseTo(2, 5);
    expect(x / z).toBeCloseTo(2, 1);
  },
);
