import { beforeAll, describe, expect, test } from "vitest";
import { makeTenant, type Tenant } from "@/testing/api";
import { validateGlb } from "@/testing/glb";
import { figure, upload as uploadTo, work } from "@/testing/meshes";
import { rowsOf } from "@/testing/world";

const MESH = "model.generate.3d.v1";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

const picture = figure;
const upload = (bytes: Uint8Array, mediaType: string) => uploadTo(tenant, bytes, mediaType);

const submit = (input: object, more: object = {}) =>
  tenant.post(`/v1/capabilities/${MESH}/jobs`, { input, ...more });

/** Submits a job, works on it to the end and reads it back as a client does. */
async function make(input: object, model = "sandbox-1") {
  const submitted = await submit(input, { preferredModel: model });
  expect(submitted.status).toBe(200);
  const { jobId } = submitted.json;
  await work(jobId);
  return { jobId, job: (await tenant.get(`/v1/jobs/${jobId}`)).json };
}

test("pictures become a GLB in which the Khronos validator finds no problem", {
  tags: "long",
}, async () => {
  const ids = await Promise.all([
    upload(await picture("#c33"), "image/png"),
    upload(await picture("#3c3", "jpeg"), "image/jpeg"),
    upload(await picture("#33c", "webp"), "image/webp"),
  ]);
  const { jobId, job } = await make({
    inputArtifactIds: ids,
    meshProfile: "clean_game_mesh",
    meshSettings: { shouldTexture: true, texturePrompt: "Painted wood" },
    textureReferenceArtifactId: ids[2],
  });
  expect(job.error).toBeNull();
  const [artifact] = job.artifacts;
  expect(job.typedOutput.artifacts).toEqual([
    {
      artifactId: artifact.artifactId,
      mediaType: "model/gltf-binary",
      downloadPath: artifact.downloadPath,
      kind: "mesh",
    },
  ]);
  expect(job).toMatchObject({ status: "succeeded", primaryArtifactId: artifact.artifactId });
  const { bytes, headers } = await tenant.get(artifact.downloadPath);
  expect(headers["content-type"]).toBe("model/gltf-binary");
  const report = await validateGlb(bytes);
  expect(report.problems).toEqual([]);
  expect(job.typedOutput.mesh).toMatchObject({
    byteLength: bytes.byteLength,
    vertices: report.vertices,
    triangles: report.triangles,
    textured: true,
  });
  const { attempts, hold } = await rowsOf(jobId);
  expect(attempts).toMatchObject([{ submission: "attempted", usage: { meshes: 1 }, cost_micros: 30_000 }]);
  expect(hold).toMatchObject({ state: "settled", settled_micros: 31_800 });
  const { json: receipt } = await tenant.get(`/v1/jobs/${jobId}/receipt`);
  expect(receipt).toMatchObject({
    usage: { meshes: 1 },
    route: { provider: "sandbox", model: "sandbox-1", api: "meshes" },
    settings: { meshes: 1, textured: true },
  });
});

test("a quote states the exact price of a bare and of a textured mesh", async () => {
  const id = await upload(await picture("#c33"), "image/png");
  const total = async (meshSettings: object) => {
    const { json } = await tenant.post(`/v1/capabilities/${MESH}/quote`, {
      input: { inputArtifactIds: [id], meshSettings },
    });
    const { qualifier, customerTotal } = json.pricing.quote;
    return [qualifier, customerTotal.amountMicros];
  };
  expect(await total({})).toEqual(["exact", 21_200]);
  expect(await total({ shouldTexture: true })).toEqual(["exact", 31_800]);
});

describe("outcomes of the sandbox's models", () => {
  test.each([
    ["sandbox-2", "succeeded", null, "settled"],
    ["sandbox-busy", "succeeded", null, "settled"],
    ["sandbox-refuse", "failed", "ProviderRejected", "released"],
    ["sandbox-lost", "failed", "TRANSPORT_AMBIGUOUS", "ambiguous"],
    ["sandbox-empty", "failed", "PROVIDER_EMPTY_OUTPUT", "settled"],
    ["sandbox-fail", "failed", "PROVIDER_ERROR", "released"],
  ])("a mesh on %s ends as %s %s with its hold %s", async (model, status, code, held) => {
    const id = await upload(await picture("#c33"), "image/png");
    const { jobId, job } = await make({ inputArtifactIds: [id] }, model);
    expect([job.status, job.error?.code ?? null]).toEqual([status, code]);
    expect((await rowsOf(jobId)).hold).toMatchObject({ state: held });
  });
});

describe("mesh input validation", () => {
  test.each<[string, (id: string) => object, (string | number)[]]>([
    ["a picture that is not there", () => ({ inputArtifactIds: ["art_0"] }), ["inputArtifactIds", 0]],
    [
      "a second one that is not there",
      (id) => ({ inputArtifactIds: [id, "art_0"] }),
      ["inputArtifactIds", 1],
    ],
    [
      "a texture reference that is not there",
      (id) => ({ inputArtifactIds: [id], textureReferenceArtifactId: "art_0" }),
      ["textureReferenceArtifactId"],
    ],
    [
      "one in the settings that is not there",
      (id) => ({ inputArtifactIds: [id], meshSettings: { textureReferenceArtifactId: "art_0" } }),
      ["meshSettings", "textureReferenceArtifactId"],
    ],
    [
      "a concept that is not there",
      (id) => ({ inputArtifactIds: [id], conceptArtifactId: "art_0" }),
      ["conceptArtifactId"],
    ],
    [
      "two profiles",
      (id) => ({
        inputArtifactIds: [id],
        meshProfile: "hero_hd",
        meshSettings: { profile: "draft_fast" },
      }),
      ["meshSettings", "profile"],
    ],
  ])("%s is refused at its field", async (_case, input, field) => {
    const id = await upload(await picture("#c33"), "image/png");
    const { status, json } = await submit(input(id));
    expect(status).toBe(422);
    expect(json.detail.map(({ loc }: { loc: (string | number)[] }) => loc)).toEqual([
      ["body", "input", ...field],
    ]);
  });

  test.each([
    ["no picture", Buffer.from("words"), "text/plain", /text\/plain/],
    ["a picture above the limit", Buffer.alloc(8 * 1024 * 1024 + 1), "image/png", /8388609 bytes/],
  ])("an input artifact with %s is refused", async (_case, bytes, mediaType, message) => {
    const { status, json } = await submit({ inputArtifactIds: [await upload(bytes, mediaType)] });
    expect(status).toBe(422);
    expect(json.detail[0]).toMatchObject({
      loc: ["body", "input", "inputArtifactIds", 0],
      msg: expect.stringMatching(message),
    });
  });
});
