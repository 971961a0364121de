import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { weightsLink } from "@/server/domain/adapters/sources/weights-link";
import { newId, ulid } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { sha256Hex } from "@/server/platform/text/canonical";
import { type Adapters, openAdapters } from "@/testing/adapters";
import { Form, someWeights, uploadOf, weightsPart } from "@/testing/forms";
import { setSettings } from "@/testing/settings";
import { ask, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import { get, openTenant, post, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

/** LoRA weights of the tenant. */
let lora: Adapters;
beforeAll(async () => {
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true }); // the hub runs on this machine
  lora = await openAdapters(tenant);
}, 60_000);
afterAll(() => lora.close());

everyEndpoint("weights", { sample: ({ method, path }) => lora.sample(method, path) });

describe("adapters", () => {
  const ADAPTERS = "/v1/adapters";
  const UPLOAD = `${ADAPTERS}/upload`;

  test("weights are uploaded under a name, and their own header fills fields that the form omits", async () => {
    const bytes = someWeights();
    const { json } = await post(
      200,
      UPLOAD,
      uploadOf(bytes, { displayName: "Wet stones", environment: "", baseModelFamily: "" }),
    );
    expect(json).toMatchObject({
      displayName: "Wet stones",
      type: "lora",
      environment: "development",
      projectId: tenant.projectId,
      source: { kind: "service_artifact", sha256: sha256Hex(bytes), byteLength: bytes.byteLength },
      frozen: true,
      sourceHealth: { status: "healthy" },
      baseModelFamily: "flux",
      triggerWords: ["mossy stone", "wet light"],
      licenseName: "Apache-2.0",
    });
    expect((await get(200, `${ADAPTERS}/${json.adapterId}`)).json).toEqual(json);
    expect((await get(200, `/v1/artifacts/${json.source.ref}`)).bytes).toEqual(bytes);
    const said = {
      baseModelFamily: "sdxl",
      recommendedWeight: "0.75",
      triggerWords: "brass rider, at dusk",
      licenseName: "MIT",
      licenseUrl: "https://example.com/license",
      licenseStatus: "verified",
      compatibleModels: "sandbox-image",
    };
    const other = await post(200, UPLOAD, uploadOf(bytes, said));
    expect(other.json).toMatchObject({
      ...said,
      recommendedWeight: 0.75,
      triggerWords: ["brass rider", "at dusk"],
      compatibleModels: ["sandbox-image"],
      source: { sha256: json.source.sha256 },
    });
    expect(other.json.source.ref).not.toBe(json.source.ref);
    const taken = await post([422, "list"], UPLOAD, uploadOf(someWeights(), { displayName: "WET STONES" }));
    expect(taken.json.detail[0]).toMatchObject({ loc: ["body", "displayName"], type: "name_taken" });
  });

  test("each part of an upload that is missing, wrong, repeated or unknown is 422 at its place", async () => {
    const file = weightsPart(someWeights());
    const name = ["displayName", `Adapter ${ulid()}`] satisfies [string, string];
    for (const [parts, loc, type] of [
      [[name], [], "multipart_invalid"],
      [[], [], "multipart_invalid"],
      [[file], ["displayName"], "missing"],
      [[["displayName", " "], file], ["displayName"], "string_too_short"],
      [[name, name, file], ["displayName"], "repeated"],
      [[name, file, name], ["displayName"], "repeated"],
      [[name, file, file], [], "multipart_invalid"],
      [[name, ["colour", "blue"], file], ["colour"], "extra_forbidden"],
      [[name, file, ["colour", "blue"]], ["colour"], "extra_forbidden"],
      [[name, ["weights", { filename: "a", bytes: Buffer.from("a") }]], ["weights"], "extra_forbidden"],
      [[name, ["recommendedWeight", "heavy"], file], ["recommendedWeight"], "number_type"],
      [[name, ["recommendedWeight", "3"], file], ["recommendedWeight"], "less_than_equal"],
      [[name, ["licenseStatus", "mine"], file], ["licenseStatus"], "enum"],
      [[name, file, ["licenseUrl", "javascript:alert(1)"]], ["licenseUrl"], "string_pattern_mismatch"],
      [[name, ["baseModelFamily", "x".repeat(129)], file], ["baseModelFamily"], "string_too_long"],
      [[name, ["baseModelFamily", "a\0b"], file], ["baseModelFamily"], "nul_character"],
      [[name, weightsPart(Buffer.alloc(0))], ["file"], "file_too_short"],
      [[name, weightsPart(Buffer.from("%PDF-1.7 and so on"))], ["file"], "header_too_large"],
    ] as const) {
      const { json } = await post([422, "list"], UPLOAD, new Form(parts));
      expect([json.detail[0].loc, json.detail[0].type], JSON.stringify(parts.map(([part]) => part))).toEqual([
        ["body", ...loc],
        type,
      ]);
    }
  });

  test("uploads that are slow, too large, not a form or too many are 408, 413, 415 and 429", async () => {
    const before = { ...env };
    const form = uploadOf();
    const headers = { "content-type": form.contentType };
    await post([415, "UnsupportedMediaType"], UPLOAD, { displayName: "x" });
    await post([422, "list"], UPLOAD, "x", { headers: { "content-type": "multipart/form-data" } });
    const long = { ...headers, "content-length": String(3 * 1024 ** 3) };
    const announced = await post([413, "PayloadTooLarge"], UPLOAD, form.bytes, { headers: long });
    expect(announced.json.detail.details).toEqual({ maxBytes: 2 * 1024 ** 3 });
    const open: (() => void)[] = [];
    async function* half() {
      yield form.bytes.subarray(0, 300);
      await new Promise<void>((resolve) => open.push(resolve));
    }
    try {
      setSettings({ ADAPTER_UPLOAD_MAX_BYTES: 100 });
      const found = await post([413, "PayloadTooLarge"], UPLOAD, form);
      expect(found.json.detail.details).toEqual({ maxBytes: 100 });
      setSettings({ ...before, ADAPTER_UPLOAD_IDLE_MS: 20 });
      await post([408, "RequestTimeout"], UPLOAD, undefined, { headers, stream: half() });
      setSettings({ ...before, ADAPTER_UPLOADS_PER_ORGANIZATION: 1 });
      const first = post([422, "list"], UPLOAD, undefined, { headers, stream: half() });
      while (open.length < 2) await new Promise(setImmediate);
      const refused = await post([429, "RateLimited"], UPLOAD, form);
      expect(refused.headers["retry-after"]).toBe("10");
      open[1]?.();
      await first;
      await post(200, UPLOAD, form);
    } finally {
      setSettings(before);
      for (const end of open) end();
    }
  });

  test("uploaded weights are served to a vendor whole or in part, are not cached, and wrong addresses are 404", async () => {
    const whole = await ask(200, "GET", lora.link, {});
    expect(whole.headers).toMatchObject({
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
      "accept-ranges": "bytes",
      "content-type": "application/octet-stream",
    });
    const sized = await ask(200, "HEAD", lora.link, {});
    expect([sized.bytes.length, sized.headers["content-length"]]).toEqual([0, String(whole.bytes.length)]);
    const part = await ask(206, "GET", lora.link, { headers: { range: "bytes=0-7" } });
    expect(part.bytes).toEqual(whole.bytes.subarray(0, 8));
    expect(part.headers["cache-control"]).toBe("private, no-store");
    await ask(304, "GET", lora.link, { headers: { "if-none-match": whole.headers.etag ?? "" } });
    await ask([412, "PreconditionFailed"], "GET", lora.link, { headers: { "if-match": '"other"' } });
    await ask([416, "RangeNotSatisfiable"], "GET", lora.link, {
      headers: { range: `bytes=${whole.bytes.length}-` },
    });
    await ask([404, "NotFound"], "GET", `/v1/adapter-weights/${"x".repeat(129)}`, {});

    const [, expires = "", mac = ""] = lora.link.split(".");
    const over = weightsLink(lora.artifactId, new Date(Date.now() - 1_000));
    const gone = weightsLink(newId("artifact"), new Date(Date.now() + 60_000));
    const answers = new Set<string>();
    for (const wrong of [
      "/v1/adapter-weights/nothing",
      `/v1/adapter-weights/${lora.artifactId}`,
      lora.link.replace(".safetensors", ""),
      lora.link.replace(
        mac,
        mac.replace(/^./, (first) => (first === "A" ? "B" : "A")),
      ),
      lora.link.replace(mac, ""),
      lora.link.replace(expires, "zzzzzzzz"),
      lora.link.replace(expires, `0${expires}`),
      new URL(over).pathname,
      new URL(gone).pathname,
    ]) {
      const { text, headers } = await ask([404, "NotFound"], "GET", wrong, {});
      answers.add(text.replaceAll(headers["x-request-id"] ?? "", ""));
    }
    expect(answers.size).toBe(1);
  });
});

everyStatusHasACase("weights");
