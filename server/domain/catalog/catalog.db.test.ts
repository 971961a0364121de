import { execFileSync } from "node:child_process";
import { Ajv2020 } from "ajv/dist/2020.js";
import { transform } from "esbuild";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { CapabilityDescriptor, ExecutionTargetList } from "@/server/contract/capabilities";
import type { Json } from "@/server/platform/durable/step";
import { env, publicUrl } from "@/server/platform/settings/env";
import type { Provider } from "@/server/providers/provider";
import { providers as registry } from "@/server/providers/registry.gen";
import { setSettings } from "@/testing/settings";
import {
  allCapabilities,
  chooseRoute,
  describeCapability,
  executionTargets,
  getCapability,
  list,
  routeKey,
  targetsOfPort,
} from ".";

const providers: readonly Provider[] = registry;
const { OPENAI_API_KEY } = env;
afterEach(() => {
  setSettings({ OPENAI_API_KEY });
});

const DESCRIPTOR_FIELDS = [
  ...["key", "title", "description", "modality", "family", "category", "inputSchema", "outputSchema"],
  ...["executionModes", "idempotencyRequired", "estimateAvailable", "features", "inputConstraints"],
  ...["inputMediaTypes", "execution", "output", "interaction", "funding", "readySummary", "pricing"],
];
const EXECUTION_FIELDS = [
  ...["oneShot", "managedInferenceAvailable", "inferenceProviderSetupRequired", "projectLocalRequired"],
  ...["estimateAvailable", "trialEligible"],
];
const PRICING_FIELDS = [
  ...["mode", "billingCurrency", "display", "estimateRequired", "quoteEndpoint", "estimateEndpoint"],
  ...["pricingVersion", "pricingFactors", "pricingContext", "authoritativeForExecution", "examples"],
  ...["billable", "quote"],
];

test("3d.render_reference.v1 is geometry/generation, and document.verify.v1 is text/generation", () => {
  const kindOf = (key: string) => {
    const { family, category } = getCapability(key);
    return `${family}/${category}`;
  };
  expect(kindOf("3d.render_reference.v1")).toBe("geometry/generation");
  expect(kindOf("document.verify.v1")).toBe("text/generation");
});

type Edge = { description?: string; minimum?: number; maximum?: number };

/** Returns the schemas of limited widths and heights, at any depth of a schema. */
function edgesIn(schema: unknown): Edge[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]: [string, Edge]) =>
    /^(width|height)$/.test(name) && inner.maximum !== undefined ? [inner] : edgesIn(inner),
  );
}

test("image.generate.v1 limits at least four widths and heights", () => {
  const { inputSchema } = describeCapability(getCapability("image.generate.v1"), false);
  expect(edgesIn(inputSchema).length).toBeGreaterThanOrEqual(4);
});

for (const capability of allCapabilities) {
  test(`${capability.key}: every published field is there and of its type`, () => {
    const described = describeCapability(capability, false);
    expect(CapabilityDescriptor.parse(described)).toEqual(described);
    expect(Object.keys(described)).toEqual(expect.arrayContaining(DESCRIPTOR_FIELDS));
    expect(Object.keys(described.execution)).toEqual(expect.arrayContaining(EXECUTION_FIELDS));
    const prices = [
      described.pricing,
      described.billingModes?.byok.pricing,
      described.billingModes?.managed.pricing,
    ];
    for (const pricing of prices.filter((each) => each !== undefined)) {
      expect(Object.keys(pricing)).toEqual(expect.arrayContaining(PRICING_FIELDS));
      expect(pricing).toMatchObject({ pricingVersion: "price_2026_08_1", pricingContext: "catalog_default" });
      for (const pointer of pricing.quote.requirements) expect(pointer).toMatch(/^\/input\//);
    }
    expect(described.output).toEqual({ kind: capability.outputKind, mediaType: capability.outputMediaType });
    expect(described.interaction).toMatchObject({ typicallyRequired: false });
    expect(described.funding).toEqual({
      mode: "managed",
      eligible: described.billingModes !== undefined,
      status: "catalog_available",
    });
    expect(described.estimateAvailable).toBe(described.pricing.quote.supported);
    expect(described.quoteTtlSeconds).toBe(described.pricing.quote.supported ? 900 : null);
    expect(described).not.toHaveProperty("uiSchema");
    if (capability.family === "domain") expect(described.credentialSources).toEqual(["platform", "customer"]);
    else expect(described).not.toHaveProperty("credentialSources");
  });

  test(`${capability.key}: its schemas are JSON Schema that the examples satisfy`, () => {
    const ajv = new Ajv2020({ strict: false });
    const described = describeCapability(capability, false);
    const validate = ajv.compile(described.inputSchema);
    for (const { input } of described.examples) {
      expect(capability.input.safeParse(input).success).toBe(true);
      expect({ input, valid: validate(input), errors: validate.errors }).toMatchObject({ valid: true });
    }
    expect(described.examples.length).toBeGreaterThan(0);
    expect(described.inputSchema.additionalProperties).toBe(false);
    expect(validate({ ...(described.examples[0]?.input as object), surprise: 1 })).toBe(false);
    const answer = ajv.compile(described.outputSchema);
    for (const { output } of capability.examples) {
      if (output) expect({ output, valid: answer(output) }).toMatchObject({ valid: true });
    }
  });

  test(`${capability.key}: a limited width or height says its limits in words, too`, () => {
    for (const { description, minimum, maximum } of edgesIn(
      describeCapability(capability, false).inputSchema,
    ))
      expect(description).toMatch(new RegExp(`\\b${minimum} to ${maximum} pixels\\b`));
  });

  test(`${capability.key}: a mode is published only where it can be run`, () => {
    const described = describeCapability(capability, false);
    const features = z
      .object({
        syncInvoke: z.object({ supported: z.boolean() }),
        streamInvoke: z.object({ supported: z.boolean() }).default({ supported: false }),
        durableJob: z.object({ supported: z.boolean() }),
      })
      .parse(described.features);
    expect(features.syncInvoke.supported).toBe(described.executionModes.includes("invoke_sync"));
    expect(features.durableJob.supported).toBe(described.executionModes.includes("job_async"));
    expect(features.streamInvoke.supported).toBe(described.executionModes.includes("invoke_stream"));
    expect(described.execution.mode).toBe(described.executionModes.includes("job_async") ? "job" : "invoke");
    expect(described.nextAction.endpoint).toBe(
      `POST /v1/capabilities/${capability.key}/${described.executionModes.includes("invoke_sync") ? "invoke" : "jobs"}`,
    );
  });

  test(`${capability.key}: described alone it gives the lines that run it, in the list it does not`, async () => {
    const { nextAction, descriptorProjection, executionModes } = describeCapability(capability, false);
    const { exampleInput, cli = "", sdk = "", mcp } = nextAction;
    expect(descriptorProjection).toBe("describe");
    const said = execFileSync("sh", ["-c", `capstan() { printf '%s\\0' "$@"; }; ${cli}`], {
      encoding: "utf8",
    });
    const [verb, key, option, json = "", ...rest] = said.split("\0");
    expect([verb, key, option]).toEqual(["run", capability.key, "--input"]);
    expect(JSON.parse(json)).toEqual(exampleInput);
    expect(rest).toEqual(["--base-url", publicUrl, ""]);
    await transform(sdk, { loader: "ts" });
    expect(sdk).toContain(JSON.stringify(capability.key));
    expect(mcp).toEqual({
      tool: executionModes.includes("invoke_sync") ? "invoke" : "submit_job",
      arguments: { capability_key: capability.key, request: { input: exampleInput } },
    });

    const { capabilities } = list({}, false);
    const listed = capabilities.find(({ key }) => key === capability.key);
    const { kind, endpoint } = nextAction;
    expect(listed).toMatchObject({ descriptorProjection: "list" });
    expect(listed).toHaveProperty("nextAction", { kind, endpoint, exampleInput });
  });
}

test("priced capabilities name both billing modes, with the fee on managed, and free ones name none", () => {
  const text = describeCapability(getCapability("text.general.fast.v1"), false);
  expect(text.billingModes).toMatchObject({
    byok: {
      available: true,
      providerChargesIncluded: false,
      providerChargesExternal: true,
      serviceFeeBps: 0,
    },
    managed: {
      available: true,
      providerChargesIncluded: true,
      providerChargesExternal: false,
      serviceFeeBps: 600,
    },
  });
  expect(text.pricing).toMatchObject({
    mode: "metered",
    billable: true,
    authoritativeForExecution: false,
    quoteEndpoint: "/v1/capabilities/text.general.fast.v1/quote",
    estimateEndpoint: "/v1/capabilities/text.general.fast.v1/estimate",
    quote: { supported: true, requirements: ["/input/messages"] },
  });
  const math = describeCapability(getCapability("compute.evaluate.v1"), false);
  expect(math).not.toHaveProperty("billingModes");
  expect(math.pricing).toMatchObject({
    mode: "free",
    billable: false,
    quoteEndpoint: null,
    estimateEndpoint: null,
    quote: { supported: false, requirements: [] },
  });
});

test("the descriptors of text, math and images have the features and constraints that clients read", () => {
  const text = describeCapability(getCapability("text.general.fast.v1"), false);
  expect(text.inputConstraints).toEqual({
    messages: { measurement: "tokens", max: 128_000, overflow: "reject", semantic: true },
  });
  expect(text.features).toMatchObject({
    syncInvoke: { supported: true, maxOutputTokens: 2048, targetMaxDurationSeconds: 60 },
    durableJob: {
      supported: true,
      outputBudget: { mode: expect.any(String), hintField: "maxOutputTokens" },
      defaultQueueDeadlineSeconds: 7200,
      maxQueueDeadlineSeconds: 7200,
      defaultExecutionDeadlineSeconds: 120,
      maxExecutionDeadlineSeconds: 600,
    },
    contextWindowTokens: 128_000,
    noSilentTruncation: true,
  });
  const math = describeCapability(getCapability("compute.evaluate.v1"), false);
  expect(math.features).toMatchObject({ deterministic: true, providerBacked: false, modelBacked: false });
  expect(math.features.errorCodes).toHaveLength(10);
  const image = describeCapability(getCapability("image.generate.v1"), false);
  expect(image).toMatchObject({
    modality: "image",
    executionModes: ["job_async"],
    output: { kind: "artifact" },
  });
  expect(image.inputConstraints.prompt).toMatchObject({ measurement: "characters", max: 32_000 });
});

test("a signed-in caller gets the order of a form's fields and the prices of an account", () => {
  const described = describeCapability(getCapability("image.generate.v1"), true);
  expect(described.uiSchema).toEqual({ order: expect.arrayContaining(["prompt", "width", "variantCount"]) });
  expect(described.pricing.pricingContext).toBe("account");
});

test("the catalog lists everything by key, and a summary has six fields", () => {
  const keys = allCapabilities.map((capability) => capability.key);
  expect(list({}, false).capabilities.map(({ key }) => key)).toEqual([...keys].sort());
  for (const line of list({ view: "summary" }, false).capabilities) {
    expect(Object.keys(line).sort()).toEqual(
      ["key", "title", "description", "modality", "family", "executionModes"].sort(),
    );
  }
});

test("the words of a task find their capability first, and words that no one uses find nothing", () => {
  const first = (q: string) => list({ q, view: "summary" }, false).capabilities[0]?.key;
  expect(first("summarise an e-mail")).toBe("text.general.fast.v1");
  expect(first("draw a picture of a lighthouse")).toBe("image.generate.v1");
  expect(first("calculate a percentage with exact decimals")).toBe("compute.evaluate.v1");
  expect(first("JSON SCHEMA")).toBe("text.structured.generation.v1");
  expect(first("image.generate.v1")).toBe("image.generate.v1");
  expect(list({ q: "xyzzyplugh" }, false).capabilities).toEqual([]);
  expect(list({ q: "  " }, false).capabilities).toHaveLength(allCapabilities.length);
});

test("an unknown key is refused with its nearest matches", () => {
  const refused = (key: string) => {
    try {
      getCapability(key);
    } catch (cause) {
      return cause;
    }
    throw new Error("nothing was refused");
  };
  expect(refused("image.generat.v1")).toMatchObject({
    code: "UNKNOWN_CAPABILITY",
    details: { nearestMatches: ["image.generate.v1", "image.edit.v1"] },
  });
  expect(refused("text.nothing.like.it")).toMatchObject({
    details: { nearestMatches: expect.arrayContaining(["text.general.fast.v1"]) },
  });
  expect(refused("__proto__")).toMatchObject({ code: "UNKNOWN_CAPABILITY", details: { nearestMatches: [] } });
});

for (const capability of allCapabilities) {
  test(`${capability.key}: execution targets name each model, its availability and one default`, () => {
    const targets = executionTargets(capability);
    expect(ExecutionTargetList.parse(targets)).toEqual(targets);
    expect(targets.default.selection).toBe("unpinned");
    if ("local" in capability.execute) {
      expect(targets).toMatchObject({ default: { target: null }, targets: [] });
      return;
    }
    const { target: first } = targets.default;
    expect(first).toMatch(/^sandbox\/sandbox-[12]$/);
    expect(targets.targets.filter((target) => target.default).map(({ target }) => target)).toEqual([first]);
    for (const { target, provider, model, readerDelivery, executionModes } of targets.targets) {
      expect(target).toBe(`${provider}/${model}`);
      const writes = capability.key.startsWith("text.") && capability.outputKind === "text";
      const streams = targetsOfPort(capability).some(
        (each) => routeKey(each) === target && each.model.supports.stream,
      );
      const reason = !writes ? "not_offered_by_capability" : streams ? null : "not_offered_by_route";
      expect(readerDelivery).toEqual({ supported: reason === null, reason });
      const modes = capability.modes.filter((mode) => streams || mode !== "invoke_stream");
      expect(executionModes).toEqual(modes);
    }
    const openai = targets.targets.filter(({ provider }) => provider === "openai");
    if (["text", "image"].includes(capability.modality)) expect(openai.length).toBeGreaterThan(0);
    for (const { availability } of openai) {
      expect(availability).toEqual({ available: false, billingModes: [], reason: "connection_required" });
    }
  });

  test(`${capability.key}: the default target is the one an unpinned request takes`, () => {
    if ("local" in capability.execute) return;
    for (const key of [undefined, "a key"]) {
      setSettings({ OPENAI_API_KEY: key });
      const input = capability.input.parse(capability.examples[0]?.input);
      const { provider, model } = chooseRoute(capability, input, {}, "http://connect");
      expect(executionTargets(capability).default.target).toBe(`${provider.name}/${model.id}`);
    }
  });
}

test("a model that follows a length hint goes before its equals, never before a better account, and the hint refuses only a pin", () => {
  setSettings({ OPENAI_API_KEY: "a key" });
  const capability = getCapability("text.general.fast.v1");
  const { input: given } = capability.examples[0]!;
  const choose = (maxOutputTokens: number | undefined, wish: Parameters<typeof chooseRoute>[2] = {}) =>
    chooseRoute(
      capability,
      capability.input.parse({ ...(given as object), maxOutputTokens }),
      wish,
      "http://connect",
    );
  const plain = choose(undefined);
  expect(choose(1_000).choice).toEqual(plain.choice);
  expect(choose(1_000_000)).toMatchObject({ provider: plain.provider, model: plain.model });
  const longest = choose(100_000);
  expect(longest.account).toBe("operator");
  expect(longest.model.maxOutputTokens).toBeGreaterThanOrEqual(100_000);
  expect(choose(100_000, { preferredModel: "gpt-4.1-mini" }).model.id).toBe("gpt-4.1-mini");
  expect(() => choose(100_000, { pin: "openai/gpt-4.1-mini" })).toThrow(/cannot run this request/);
  const isBehind = ({ model }: { model: { id: string } }) => model.id === plain.model.id;
  expect(choose(undefined, { isBehind }).model.id).not.toBe(plain.model.id);
  expect(choose(100_000, { isBehind }).model.maxOutputTokens).toBeGreaterThanOrEqual(100_000);
  // No one has paid for the operator's account, and a longer answer is no reason to ask for money.
  expect(choose(100_000, { isFunded: false }).provider.name).toBe("sandbox");
});

const constrained = allCapabilities.flatMap((capability) =>
  Object.entries(capability.inputConstraints).flatMap(([path, { measurement, max }]) =>
    measurement === "characters" && max !== undefined ? [{ capability, path, max }] : [],
  ),
);
for (const { capability, path, max } of constrained)
  test(`${capability.key}: the length of ${path} is left to its constraint, which refuses in one way`, () => {
    const example = capability.examples[0]?.input as Record<string, Json>;
    const text = "x".repeat(max + 1);
    const value = Array.isArray(example[path]) ? [text] : text;
    const long = path.split(".").reduceRight<Json>((inner, part) => ({ [part]: inner }), value);
    const { error } = capability.input.safeParse({
      ...example,
      ...(long as object),
    });
    expect(error?.issues.filter(({ code }) => code === "too_big") ?? []).toEqual([]);
  });

test("deferred processing is offered to pins wherever a deferrable model has an interface whose pins can defer", () => {
  const said = allCapabilities.flatMap((capability) => {
    const { deferredProcessing } = describeCapability(capability, false).features as {
      deferredProcessing?: { available: boolean; appliesTo: string[]; optInFor?: string };
    };
    if (!deferredProcessing?.available) return [];
    const { targets } = executionTargets(capability);
    const able = targets.filter((target) => target.deferredProcessing.available);
    const isPinnable = able.some(({ provider }) =>
      Object.values(providers.find(({ name }) => name === provider)?.pins ?? {}).some((api) => api.canDefer),
    );
    expect(deferredProcessing.appliesTo.includes("pinned"), capability.key).toBe(isPinnable);
    expect(deferredProcessing.optInFor, capability.key).toBe(isPinnable ? "pinned" : undefined);
    return [isPinnable];
  });
  expect(said).toContain(true);
});
