import { describe, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { newAdapter } from "@/testing/adapters";
import { finish, makeTenant } from "@/testing/api";
import { openPanel } from "@/testing/embeds";
import { at, fields, IMAGE, input, TEXT } from "./embeds.fixture";

describe("reads of an embed session", () => {
  test("an embed session finds no job, event, result, receipt, artifact or stream of anyone else", {
    tags: "long",
  }, async () => {
    const tenant = await makeTenant();
    const [one, other] = [await openPanel(tenant), await openPanel(tenant)];
    const drawn = await one.post(at(IMAGE), { prompt: "A kite" });
    const own = await finish(drawn.json.jobId);
    const theirs = await finish((await tenant.post(at(IMAGE), { prompt: "A kite" })).json.jobId);
    const paths = (job: typeof own) => {
      const artifactId = job.artifacts[0]?.artifactId ?? "";
      return [
        `/v1/jobs/${job.jobId}`,
        `/v1/jobs/${job.jobId}/events`,
        `/v1/jobs/${job.jobId}/result`,
        `/v1/jobs/${job.jobId}/receipt`,
        `/v1/jobs/${job.jobId}/artifacts/${artifactId}`,
        `/v1/artifacts/${artifactId}`,
      ];
    };
    for (const path of paths(own)) {
      expect([path, (await one.get(path)).status]).toEqual([path, 200]);
      expect([path, (await other.get(path)).status]).toEqual([path, 404]);
    }
    for (const path of paths(theirs)) expect([path, (await one.get(path)).status]).toEqual([path, 404]);
    const streamed = await tenant.post(at(TEXT, "invoke"), { input, executionMode: "Stream" });
    expect((await one.get(`/v1/executions/${streamed.json.executionId}/events`)).status).toBe(404);
    const waiting = await tenant.post(at(TEXT), { input });
    expect((await one.post(`/v1/jobs/${waiting.json.jobId}/cancel`)).status).toBe(404);
    const mine = await one.post(at(TEXT), { input });
    expect((await one.post(`/v1/jobs/${mine.json.jobId}/cancel`)).json.status).toBe("canceled");
  });

  test("an idempotency key of a session names only its own jobs: no one finds another's through it", async () => {
    const tenant = await makeTenant();
    const [one, other] = [await openPanel(tenant), await openPanel(tenant)];
    const body = { input, idempotencyKey: "order-1" };
    const ids = [
      (await tenant.post(at(TEXT), body)).json.jobId,
      (await one.post(at(TEXT), body)).json.jobId,
      (await other.post(at(TEXT), body)).json.jobId,
    ];
    expect(new Set(ids).size).toBe(3);
    expect((await one.post(at(TEXT), body)).json.jobId).toBe(ids[1]);
    const changed = await one.post(at(TEXT), { ...body, metadata: { a: "b" } });
    expect(changed.json.jobId).toBe(ids[1]);
  });

  test("an embed session uses no adapter, stored input or quote of the project except adapters that it was given", async () => {
    const tenant = await makeTenant();
    const { adapterId } = (await tenant.post("/v1/adapters", newAdapter("House style"))).json;
    await tenant.post("/v1/adapter-aliases", { alias: "House", target: { adapterId } });
    const drawing = (adapter: object) => ({ prompt: "A kite", adapters: [adapter] });
    const bare = await openPanel(tenant);
    const none = { adapterId: newId("adapter") };
    for (const adapter of [{ adapterId }, none, { alias: "house" }, { alias: "none" }]) {
      const refused = await bare.post(at(IMAGE, "quote"), drawing(adapter));
      const [field] = Object.keys(adapter);
      expect([refused.status, fields(refused)]).toEqual([422, [`body.input.adapters.0.${field}`]]);
      const what = field === "alias" ? "alias" : "adapter";
      expect(refused.json.detail[0].msg).toBe(`This environment has no such ${what}.`);
    }
    const given = await openPanel(tenant, { initialInputs: { adapters: [{ alias: "HOUSE" }] } });
    expect((await given.post(at(IMAGE), drawing({ alias: "house", weight: 0.5 }))).status).toBe(200);
    expect((await given.post(at(IMAGE), drawing({ adapterId }))).status).toBe(422);

    const stored = await tenant.post("/v1/payloads", { prompt: "A boat" });
    for (const inputPayloadRef of [stored.json.payloadId, newId("payload")]) {
      const refused = await bare.post(at(IMAGE), { input: { prompt: "A kite" }, inputPayloadRef });
      expect(refused.json.detail[0].msg).toBe(
        "An embed session cannot use stored inputs. Send the input itself.",
      );
    }
    const { quoteId } = (await tenant.post(at(TEXT, "quote"), { input })).json;
    const own = (await bare.post(at(TEXT, "quote"), { input })).json.quoteId;
    const run = (quoted: string) => bare.post(at(TEXT), { input, execution: { quoteId: quoted } });
    expect((await run(quoteId)).json.detail.details).toEqual({ reason: "unknown" });
    expect((await run(own)).status).toBe(200);
  });

  test("an embed session cannot run on a file that it neither made nor was given", {
    tags: "long",
  }, async () => {
    const tenant = await makeTenant();
    const file = async () =>
      (await finish((await tenant.post(at(IMAGE), { prompt: "A kite" })).json.jobId)).artifacts[0]
        ?.artifactId ?? "";
    const [foreign, given] = [await file(), await file()];
    const panel = await openPanel(tenant, { initialInputs: { source: { artifactId: given } } });
    const own = (await finish((await panel.post(at(IMAGE), { prompt: "A kite" })).json.jobId)).artifacts[0]
      ?.artifactId;
    const edit = (artifactId: string | undefined) =>
      panel.post(at("image.edit.v1", "quote"), { prompt: "Bluer", inputArtifactIds: [artifactId] });
    const refused = await edit(foreign);
    const nothing = await edit(newId("artifact"));
    expect([refused.status, fields(refused)]).toEqual([422, ["body.input.inputArtifactIds.0"]]);
    expect(refused.json.detail[0].msg).toBe(nothing.json.detail[0].msg);
    expect((await edit(given)).status).toBe(200);
    expect((await edit(own)).status).toBe(200);
  });
});
