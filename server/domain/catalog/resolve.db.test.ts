import { expect, test } from "vitest";
import { ResolutionRequest, ResolutionResponse } from "@/server/contract/capabilities";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { makePerson, makeTenant } from "@/testing/tenants";
import { resolve } from ".";

const anonymous: Ctx = {
  ...systemCtx("test"),
  principal: { kind: "anonymous", id: "anonymous", address: "127.0.0.1" },
};

async function ask(intent: string, requirements: object = {}, ctx = anonymous) {
  const answer = await resolve(ctx, ResolutionRequest.parse({ intent, requirements }));
  expect(ResolutionResponse.parse(answer)).toEqual(answer);
  return answer;
}

test("an intent finds its capability first, with its price and the request that runs it", async () => {
  const { resolution, matches, nextAction } = await ask("draw a picture of a lighthouse");
  expect(resolution).toBe("supported");
  expect(nextAction).toBeNull();
  const [first] = matches;
  expect(first).toMatchObject({
    capabilityKey: "image.generate.v1",
    pricing: { pricingContext: "catalog_default", authoritativeForExecution: false },
    accessDecision: null,
    runHint: {
      http: { method: "POST", path: "/v1/capabilities/image.generate.v1/jobs" },
      requiredInputFields: ["prompt"],
      inputFile: { path: "input.json", content: first?.runHint?.exampleInput },
    },
  });
  const { cli = "", sdk = "", inputFile, exampleInput } = first?.runHint ?? {};
  const command = "capstan run image.generate.v1 --input ";
  expect(cli.startsWith(`${command}'${JSON.stringify(exampleInput)}' --base-url http`)).toBe(true);
  expect(inputFile?.cli.startsWith(`${command}input.json --base-url http`)).toBe(true);
  expect(sdk).toMatch(/^import \{ createClient \} from "@capstan\/client";\n/);
  expect(sdk).toContain(`runAndWait(\n  "image.generate.v1",`);
  expect(first?.runHint?.http.body).toEqual({ input: first?.runHint?.exampleInput });
  const confidences = matches.map(({ confidence }) => confidence);
  expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
});

test("a brief answer has titles in place of prices and requests", async () => {
  const request = ResolutionRequest.parse({ intent: "draw a picture of a lighthouse" });
  const { matches } = await resolve(anonymous, request, "brief");
  expect(matches[0]).toEqual({
    capabilityKey: "image.generate.v1",
    title: expect.stringMatching(/image/i),
    confidence: expect.any(Number),
    pricing: null,
    runHint: null,
    accessDecision: null,
  });
});

test("a mistyped word still finds its capability", async () => {
  expect((await ask("genrate a pciture")).matches[0]?.capabilityKey).toBe("image.generate.v1");
});

test("a capability requested by its key has a confidence of 1", async () => {
  expect((await ask("compute.evaluate.v1")).matches).toEqual([
    expect.objectContaining({ capabilityKey: "compute.evaluate.v1", confidence: 1 }),
  ]);
});

test("a missing capability can be requested, and the answer tells where", async () => {
  expect(await ask("transcribe a phone call")).toEqual({
    resolution: "no_match_requestable",
    matches: [],
    requirementsSatisfied: true,
    unmetRequirements: [],
    nextAction: { kind: "request_capability", endpoint: "POST /v1/capability-requests", nonBinding: true },
  });
});

test.each([
  "",
  "   ",
  "?!",
  "asdf",
  "pay my rent",
  "Please buy me a ticket to Rome",
  "kaufe mir ein Fahrrad",
])(
  "the intent %j means nothing or is an act that this service never does, so it cannot be requested",
  async (intent) => {
    expect(await ask(intent)).toMatchObject({
      resolution: "no_match_not_requestable",
      matches: [],
      nextAction: null,
    });
  },
);

test.each(["a book cover with a ship", "order these sentences by length", "call for papers poster"])(
  "the intent %j is not refused, although one of its words can also mean an act",
  async (intent) => {
    expect((await ask(intent)).resolution).not.toBe("no_match_not_requestable");
  },
);

test("a capability that satisfies the requirements is the first match", async () => {
  const { matches, requirementsSatisfied } = await ask("answer with a json object", {
    executionMode: "invoke_sync",
    modality: "text",
  });
  expect(requirementsSatisfied).toBe(true);
  expect(matches[0]?.capabilityKey).toBe("text.structured.generation.v1");
});

test("an unsatisfiable requirement is named, and the matches stay", async () => {
  expect(
    await ask("compute.evaluate.v1", { executionMode: "invoke_stream", modality: "video" }),
  ).toMatchObject({
    resolution: "supported",
    requirementsSatisfied: false,
    unmetRequirements: ["modality", "executionMode"],
    matches: [{ capabilityKey: "compute.evaluate.v1" }],
  });
});

test("an anonymous caller and a member satisfy runnableNow, and only the member gets the prices of an account", async () => {
  const { organizationId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "member");
  const wanted = { runnableNow: true };
  for (const who of [anonymous, ctx])
    expect(await ask("image.generate.v1", wanted, who)).toMatchObject({ requirementsSatisfied: true });
  expect((await ask("image.generate.v1", {}, ctx)).matches[0]?.pricing?.pricingContext).toBe("account");
});

test("a resolution request with a missing, unknown or wrong member or an intent over 4,000 characters is refused", () => {
  for (const body of [
    {},
    { intent: 1 },
    { intent: "x", wish: 1 },
    { intent: "x", requirements: { cheap: true } },
    { intent: "x", requirements: { executionMode: "later" } },
    { intent: "x", schemaVersion: "service.capability-resolution.v2" },
    { intent: "x".repeat(4001) },
  ])
    expect(ResolutionRequest.safeParse(body).success, JSON.stringify(body)).toBe(false);
});
