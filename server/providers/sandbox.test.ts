import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { type Sandbox, startSandbox } from "@/server/sandbox/server";
import type { ImageCall, PortName, Tier } from "./define";
import { type PinCall, PinRefusal, pinSettings, sendPin } from "./pins";
import sandbox from "./sandbox";
import { hello } from "./testing/calls";
import { tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { caughtFault, ioFor, pinApi } from "./testing/vendor";

const sea: ImageCall = {
  prompt: "The sea",
  width: 256,
  height: 256,
  quality: "low",
  count: 2,
  transparent: false,
  referenceImages: [{ bytes: Buffer.from("x"), mediaType: "image/png", filename: "x.png" }],
};

const modelOf = (id: string) => ioFor(sandbox, id, "text", { baseUrl: "http://127.0.0.1:1" }).model;

tellsTheTruthAboutSubmission(sandbox, { port: "text", model: "sandbox-1", call: hello });
tellsTheTruthAboutSubmission(sandbox, { port: "image", model: "sandbox-1", call: sea });

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
    const io = ioFor(sandbox, model, port, { baseUrl: server.url, attemptId });
    if (!sandbox.text || !sandbox.image) throw new Error("a port is missing");
    return port === "text" ? sandbox.text.submit(call, io) : sandbox.image.submit(sea, io);
  };

  /** Streams one call and collects its pieces. */
  function stream(model: string) {
    const pieces: string[] = [];
    const adapter = sandbox.text?.stream;
    if (!adapter) throw new Error("the sandbox does not stream");
    const ended = adapter(hello, ioFor(sandbox, model, "text", { baseUrl: server.url }), (text) =>
      pieces.push(text),
    );
    return { pieces, ended };
  }

  test.each(["sandbox-1", "sandbox-2", "sandbox-slow"])(
    "%s streams the same answer as without a stream",
    async (model) => {
      const { pieces, ended } = stream(model);
      const io = ioFor(sandbox, model, "text", { baseUrl: server.url });
      const atOnce = await sandbox.text?.submit(hello, io);
      expect(await ended).toEqual({ ...atOnce, providerRequestId: expect.stringMatching(/^sbx_/) });
      expect(pieces.length).toBeGreaterThan(3);
      expect(atOnce).toMatchObject({ result: { text: pieces.join("") } });
    },
  );

  test.each([
    ["sandbox-refuse", "refused", "attempted"],
    ["sandbox-busy", "capacity", "attempted"],
    ["sandbox-fail", "failed", "attempted"],
    ["sandbox-lost", "lost", "ambiguous"],
  ])("the stream of %s is %s", async (model, kind, submission) => {
    const { pieces, ended } = stream(model);
    const fault = await caughtFault(ended);
    expect([fault.kind, fault.submission]).toEqual([kind, submission]);
    expect(pieces.length > 0).toBe(model === "sandbox-lost");
  });

  test("the stream of sandbox-empty has no text", async () => {
    const { pieces, ended } = stream("sandbox-empty");
    expect(await ended).toMatchObject({ result: { text: "" } });
    expect(pieces).toEqual([]);
  });

  test.each(["sandbox-1", "sandbox-2", "sandbox-slow"])(
    "%s answers on the text port and on the image port",
    async (model) => {
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
    },
  );

  test.each<[string, string]>([
    ["sandbox-refuse", "refused/attempted"],
    ["sandbox-busy", "capacity/attempted"],
    ["sandbox-lost", "lost/ambiguous"],
    ["sandbox-fail", "failed/attempted"],
  ])("%s ends as %s on the text port and on the image port", async (model, expected) => {
    for (const port of ["text", "image"] as const) {
      const fault = await caughtFault(submit(port, model, `${port}-${model}`));
      expect(`${fault.kind}/${fault.submission}`).toBe(expected);
    }
  });

  test("the answer names the tier that ran, and a model can refuse flex or have no capacity for it", async () => {
    const tierOf = async (model: string, tier: Tier) => {
      const io = ioFor(sandbox, model, "text", {
        baseUrl: server.url,
        attemptId: `tier-${model}-${tier}`,
        tier,
      });
      const progress = await sandbox.text?.submit(hello, io);
      return progress?.state === "done" ? progress.tier : progress;
    };
    expect(await tierOf("sandbox-1", "standard")).toBe("standard");
    expect(await tierOf("sandbox-1", "flex")).toBe("flex");
    expect(await tierOf("sandbox-flexless", "standard")).toBe("standard");
    expect(await tierOf("sandbox-flexquiet", "flex")).toBe("standard");
    const refused = await caughtFault(tierOf("sandbox-flexless", "flex"));
    expect([refused.kind, refused.submission, refused.details.status]).toEqual(["refused", "attempted", 400]);
    expect(refused.message).toBe("This sandbox model does not support this tier. (HTTP 400)");
    expect((await caughtFault(tierOf("sandbox-flexbusy", "flex"))).kind).toBe("capacity");
    expect(await tierOf("sandbox-flexbusy", "standard")).toBe("standard");
  });

  test("sandbox-empty succeeds with empty output", async () => {
    expect(await submit("text", "sandbox-empty", "empty")).toMatchObject({ result: { text: "" } });
    expect(await submit("image", "sandbox-empty", "empty")).toMatchObject({ result: { images: [] } });
  });

  test("an unsatisfiable schema is refused in our own words", async () => {
    const fault = await caughtFault(
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

  describe("pins", () => {
    const api = pinApi(sandbox, "responses");
    const ask: PinCall = { input: "Name three rivers of Europe.", sampling: {} };
    const send = (model: string, attemptId: string, call = ask, tier: Tier = "standard") => {
      const io = ioFor(sandbox, model, "text", { baseUrl: server.url, attemptId, tier });
      return sendPin(api, Buffer.from(JSON.stringify(api.body(call, io.model, tier))), io);
    };

    test.each(["sandbox-1", "sandbox-2", "sandbox-slow"])(
      "%s answers with complete evidence",
      async (model) => {
        const sent = await send(model, `pin-${model}`);
        expect(sent).toMatchObject({
          text: expect.stringMatching(/rivers/),
          finishReason: "stop",
          usage: { inputTokens: 7 },
          providerModel: model,
          providerRequestId: expect.stringMatching(/^sbx_/),
          providerFingerprint: null,
          tier: "standard",
          status: 200,
          nativeResponse: { model, text: sent.text },
        });
      },
    );

    test.each<[string, string]>([
      ["sandbox-refuse", "refused/attempted"],
      ["sandbox-busy", "capacity/attempted"],
      ["sandbox-lost", "lost/ambiguous"],
      ["sandbox-fail", "failed/attempted"],
    ])("%s ends as %s", async (model, expected) => {
      const fault = await caughtFault(send(model, `pin-${model}`));
      expect(`${fault.kind}/${fault.submission}`).toBe(expected);
    });

    test("the flex tier runs, is refused, has no capacity or is replaced, depending on the model", async () => {
      const flex = (model: string, attemptId: string) => send(model, attemptId, ask, "flex");
      expect((await flex("sandbox-1", "pin-flex")).tier).toBe("flex");
      expect((await flex("sandbox-flexquiet", "pin-quiet")).tier).toBe("standard");
      expect((await caughtFault(flex("sandbox-flexless", "pin-less"))).details.status).toBe(400);
      expect((await caughtFault(flex("sandbox-flexbusy", "pin-busy"))).kind).toBe("capacity");
      expect((await send("sandbox-empty", "pin-empty")).text).toBe("");
    });

    test("the bytes arrive unchanged, and the log has their hash", async () => {
      const call: PinCall = {
        ...ask,
        instructions: "Überlege.",
        sampling: { maxOutputTokens: 100, seed: 7, stop: ["."], reasoningEffort: "deep" },
      };
      const bytes = Buffer.from(canonicalText(api.body(call, modelOf("sandbox-1"), "standard") as Json));
      await sendPin(
        api,
        bytes,
        ioFor(sandbox, "sandbox-1", "text", { baseUrl: server.url, attemptId: "pin-bytes" }),
      );
      const log = await (await fetch(`${server.url}/submissions?attemptId=pin-bytes`)).json();
      expect(log).toMatchObject({ count: 1, submissions: [{ sha256: sha256Hex(bytes) }] });
    });

    test("the body has exactly the request, and an unknown field is refused by name", () => {
      const body = (call: PinCall, model = "sandbox-1") => api.body(call, modelOf(model), "standard");
      expect(body(ask)).toEqual({
        model: "sandbox-1",
        messages: [{ role: "user", content: "Name three rivers of Europe." }],
      });
      const refused = (call: PinCall, model?: string) => {
        try {
          body(call, model);
        } catch (error) {
          return error instanceof PinRefusal ? error.field : error;
        }
        return "nothing";
      };
      expect(refused({ ...ask, sampling: { topK: 3 } })).toBe("sampling.topK");
      expect(refused({ ...ask, sampling: { thinking: "disabled" } })).toBe("sampling.thinking");
      expect(refused({ ...ask, responseFormat: { type: "json_object" } }, "sandbox-stubborn")).toBe(
        "responseFormat",
      );
    });

    test("settings are the body without model, prompt, format and tools", () => {
      const call: PinCall = {
        ...ask,
        sampling: { seed: 7 },
        tools: [{ name: "find" }],
        toolChoice: "none",
        responseFormat: { type: "json_object" },
      };
      expect(pinSettings(api, api.body(call, modelOf("sandbox-1"), "flex"))).toEqual({
        seed: 7,
        toolChoice: "none",
        tier: "flex",
      });
    });

    test('the chosen tool is called, and none is called for the choice "none"', async () => {
      const tools = ["find", "keep"].map((name) => ({ type: "function", name }));
      const toolsCalled = async (toolChoice: Json) =>
        (await send("sandbox-1", "pin-tools", { ...ask, tools, toolChoice })).toolCalls.map(
          ({ name }) => name,
        );
      expect(await toolsCalled({ type: "function", name: "keep" })).toEqual(["keep"]);
      expect(await toolsCalled("auto")).toEqual(["find"]);
      expect(await toolsCalled("none")).toEqual([]);
    });

    test("seeds change the text, and a stop text ends it", async () => {
      const textOf = async (sampling: PinCall["sampling"]) =>
        (await send("sandbox-1", "pin-seeds", { ...ask, sampling })).text;
      const texts = await Promise.all([1, 2, 3, 4].map((seed) => textOf({ seed })));
      expect(new Set(texts).size).toBeGreaterThan(1);
      expect(await textOf({ seed: 1 })).toBe(texts[0]);
      expect(await textOf({ seed: 1, stop: ["Europe"] })).toBe(texts[0]?.split("Europe")[0]);
    });
  });

  test("only sandbox-1 and sandbox-2 are chosen automatically, and text and images have their own misbehaving models", () => {
    const names = (port: PortName, onlyByName: boolean) =>
      sandbox.models
        .filter((model) => model.port === port && Boolean(model.onlyByName) === onlyByName)
        .map(({ id }) => id);
    expect(names("text", false)).toEqual(["sandbox-1", "sandbox-2"]);
    const misbehaving = ["slow", "refuse", "busy", "lost", "empty", "fail"].map(
      (behaviour) => `sandbox-${behaviour}`,
    );
    const particular = ["flexless", "flexbusy", "flexquiet"]
      .concat("malformed", "stubborn", "thinker", "careless", "hollow", "mixed")
      .map((name) => `sandbox-${name}`);
    expect(names("text", true)).toEqual([...misbehaving, ...particular]);
    expect(names("image", false)).toEqual(names("text", false));
    expect(names("image", true)).toEqual([
      ...misbehaving,
      ...["partial", "garbled", "gappy"].map((name) => `sandbox-${name}`),
    ]);
  });
});
