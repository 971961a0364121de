import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "@/server/sandbox/server";
import type { ImageCall, PortName, TextCall, Tier } from "./define";
import sandbox from "./sandbox";
import { tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { faultOf, ioFor } from "./testing/vendor";

const hello: TextCall = { messages: [{ role: "user", content: "Hello" }], responseFormat: { type: "text" } };
const sea: ImageCall = {
  prompt: "The sea",
  width: 256,
  height: 256,
  quality: "low",
  count: 2,
  transparent: false,
  referenceImages: [{ bytes: Buffer.from("x"), mediaType: "image/png", filename: "x.png" }],
};

tellsTheTruthAboutSubmission(sandbox, "text", "sandbox-1", hello);
tellsTheTruthAboutSubmission(sandbox, "image", "sandbox-1", sea);

describe("the sandbox provider and its server", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sandbox-"));
  let server: Sandbox;
  beforeAll(async () => {
    server = await startSandbox({ port: 0, dataDir, slowMs: 20 });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true });
  });
  const submit = (port: PortName, model: string, attemptId: string, call = hello) => {
    const io = ioFor(sandbox, model, port, server.url, { attemptId });
    if (!sandbox.text || !sandbox.image) throw new Error("a port is missing");
    return port === "text" ? sandbox.text.submit(call, io) : sandbox.image.submit(sea, io);
  };

  test.each(["sandbox-1", "sandbox-2", "sandbox-slow"])("%s answers both ports", async (model) => {
    expect(await submit("text", model, `ok-${model}`)).toMatchObject({
      state: "done",
      result: { text: expect.stringMatching(/\w/), finishReason: "stop", toolCalls: [] },
      usage: { inputTokens: 2 },
      providerModel: model,
      providerRequestId: expect.stringMatching(/^sbx_/),
      httpStatus: 200,
    });
    expect(await submit("image", model, `ok-${model}`)).toMatchObject({
      state: "done",
      result: { images: [{ mediaType: "image/png" }, { mediaType: "image/png" }] },
      usage: { images: 2 },
    });
  });

  test.each<[string, string]>([
    ["sandbox-refuse", "refused/attempted"],
    ["sandbox-busy", "capacity/attempted"],
    ["sandbox-lost", "lost/ambiguous"],
    ["sandbox-fail", "failed/attempted"],
  ])("%s ends as %s on both ports", async (model, expected) => {
    for (const port of ["text", "image"] as const) {
      const fault = await faultOf(submit(port, model, `${port}-${model}`));
      expect(`${fault.kind}/${fault.submission}`).toBe(expected);
    }
  });

  test("the tier is asked for only where it is flex, and the answer says which one ran", async () => {
    const tierOf = async (model: string, tier: Tier) => {
      const io = ioFor(sandbox, model, "text", server.url, { attemptId: `tier-${model}-${tier}`, tier });
      const progress = await sandbox.text?.submit(hello, io);
      return progress?.state === "done" ? progress.tier : progress;
    };
    expect(await tierOf("sandbox-1", "standard")).toBe("standard");
    expect(await tierOf("sandbox-1", "flex")).toBe("flex");
    expect(await tierOf("sandbox-flexless", "standard")).toBe("standard");
    expect(await tierOf("sandbox-flexquiet", "flex")).toBe("standard");
    const refused = await faultOf(tierOf("sandbox-flexless", "flex"));
    expect([refused.kind, refused.submission, refused.details.status]).toEqual(["refused", "attempted", 400]);
    expect(refused.message).toBe("This sandbox model does not offer the tier. (HTTP 400)");
    expect((await faultOf(tierOf("sandbox-flexbusy", "flex"))).kind).toBe("capacity");
    expect(await tierOf("sandbox-flexbusy", "standard")).toBe("standard");
  });

  test("sandbox-empty succeeds with nothing in it", async () => {
    expect(await submit("text", "sandbox-empty", "empty")).toMatchObject({ result: { text: "" } });
    expect(await submit("image", "sandbox-empty", "empty")).toMatchObject({ result: { images: [] } });
  });

  test("a schema it cannot satisfy is refused in its own words", async () => {
    const fault = await faultOf(
      submit("text", "sandbox-1", "schema", {
        ...hello,
        responseFormat: {
          type: "json_schema",
          name: "x",
          schema: { type: "integer", minimum: 2, maximum: 1 },
        },
      }),
    );
    expect([fault.kind, fault.message]).toEqual([
      "refused",
      "The sandbox cannot make JSON for this schema. (HTTP 400)",
    ]);
  });

  test("every name serves both ports, but three that spoil images and eight particular about text; misbehaving ones and slow ones are only taken by name", () => {
    const names = (port: PortName, onlyByName: boolean) =>
      sandbox.models
        .filter((model) => model.port === port && Boolean(model.onlyByName) === onlyByName)
        .map(({ id }) => id);
    expect(names("text", false)).toEqual(["sandbox-1", "sandbox-2"]);
    const misbehaving = ["slow", "refuse", "busy", "lost", "empty", "fail"].map(
      (behaviour) => `sandbox-${behaviour}`,
    );
    const particular = ["flexless", "flexbusy", "flexquiet"]
      .concat("malformed", "stubborn", "thinker", "careless", "hollow")
      .map((name) => `sandbox-${name}`);
    expect(names("text", true)).toEqual([...misbehaving, ...particular]);
    expect(names("image", false)).toEqual(names("text", false));
    expect(names("image", true)).toEqual([
      ...misbehaving,
      ...["partial", "garbled", "gappy"].map((name) => `sandbox-${name}`),
    ]);
  });
});
