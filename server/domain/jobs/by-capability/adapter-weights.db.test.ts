import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import * as adapters from "@/server/domain/adapters";
import { putAdapter } from "@/server/domain/adapters/adapters.fixture";
import { artifactStore } from "@/server/domain/artifacts";
import * as jobs from "@/server/domain/jobs";
import { weights } from "@/server/model-sources/hub.fixture";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { listen } from "@/testing/listener";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";
import {
  asked,
  closeVendors,
  draw,
  hub,
  openVendors,
  pick,
  published,
  resetVendors,
  restoreSettings,
  submit,
  uploaded,
  web,
} from "./adapter-vendors.fixture";

beforeAll(openVendors, 60_000);
beforeEach(resetVendors);
afterEach(restoreSettings);
afterAll(closeVendors);

test("the sandbox draws by the start of the weights file, and refuses missing weights", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const [own, same, other] = [
    await uploaded(project.ctx, "Own"),
    await uploaded(project.ctx, "Same"),
    await uploaded(project.ctx, "Other", weights({ metadata: { "modelspec.title": "Fern" } })),
  ];
  const hubs = await published(project.ctx);
  const pictures = [];
  for (const made of [own, same, other, hubs]) {
    const done = await draw(project, [pick(made)], "sandbox");
    expect(done.status).toBe("succeeded");
    pictures.push(done.artifacts[0]?.sha256);
  }
  // The same bytes draw the same picture, wherever they are stored.
  expect(new Set(pictures).size).toBe(2);
  expect([pictures[1], pictures[3]]).toEqual([pictures[0], pictures[0]]);
  const fetched = hub.asked.filter(({ path, range }) => range === "bytes=0-65535" && path.includes("moss"));
  expect(fetched.length).toBeGreaterThan(0);
  delete hub.repos["maker/moss"];
  const failed = await draw(project, [pick(hubs)], "sandbox");
  expect(failed).toMatchObject({ status: "failed", error: { code: "ProviderRejected" } });
  expect((await rowsOf(failed.jobId)).hold).toMatchObject({ state: "released" });
});

test("the sandbox refuses weights from an unlisted host and from another path of our server, and does not connect to the host", async () => {
  const project = await makeProject();
  setSettings({
    ALLOW_PRIVATE_ADDRESSES: false,
    ADAPTER_SOURCE_HOSTS: [],
    HF_BASE_URL: "https://huggingface.co",
  });
  const inside = await listen((_request, _body, response) => void response.end("secret"));
  const refs = [
    `http://127.0.0.1:${inside.port}/a.safetensors`,
    `${web.url}/v1/adapter-weights/../../healthz`,
    `${web.url}@127.0.0.1:${inside.port}/v1/adapter-weights/x`,
  ];
  for (const [place, ref] of refs.entries()) {
    const made = await putAdapter(project.ctx, `Ref ${place}`, {
      kind: "provider_ref",
      provider: "sandbox",
      ref,
      revision: "1",
      filePath: null,
    });
    expect(await draw(project, [pick(made)], "sandbox")).toMatchObject({
      error: { code: "ProviderRejected" },
    });
  }
  expect(inside.connections()).toBe(0);
  await inside.stop();
});

test("content that a waiting job needs is pruned only after the job, even if its adapter was deleted", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { ctx, clock } = project;
  const made = await uploaded(ctx, "Own", weights({ metadata: { "modelspec.title": "Short-lived" } }));
  await pool.query("UPDATE artifact SET expires_at = now() WHERE id = $1", [made.source.ref]);
  clock.advance(DAY_MS); // young content stays, whatever expiry its row has
  const { jobId } = await submit(ctx, [pick(made)], "sandbox");
  await adapters.remove(ctx, made.adapterId);
  const isThere = async () => {
    const found = await pool.query("SELECT FROM artifact WHERE id = $1 AND pruned_at IS NULL", [
      made.source.ref,
    ]);
    return found.rowCount === 1;
  };
  await jobs.prune(ctx, { projectId: project.projectId });
  expect(await isThere()).toBe(true);
  await jobs.run(ctx, jobId, inlineStep(clock));
  expect(await jobs.get(ctx, jobId)).toMatchObject({ status: "succeeded" });
  await jobs.prune(ctx, { projectId: project.projectId });
  expect(await isThere()).toBe(false);
});

test("missing weights end the job before anything is sent, at no cost", async () => {
  const project = await makeProject();
  const made = await uploaded(project.ctx, "Own", weights({ metadata: { "modelspec.title": "Lost" } }));
  const { jobId } = await submit(project.ctx, [pick(made)], "fal");
  await artifactStore().remove(made.source.sha256 ?? "");
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({
    status: "failed",
    error: { code: "PayloadUnavailable" },
  });
  expect(asked).toEqual([]);
  expect((await rowsOf(jobId)).hold).toMatchObject({ state: "released" });
});
