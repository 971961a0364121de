import { expect, test } from "vitest";
import { chooseRoute, getCapability } from "@/server/domain/catalog";
import type { TextCall } from "@/server/providers/define";
import { estimate } from "./estimate";

const capability = getCapability("text.general.fast.v1");
const input = capability.input.parse({ messages: [{ role: "user", content: "How deep is the sea?" }] });
const call: TextCall = {
  messages: [{ role: "user", content: "How deep is the sea?" }],
  responseFormat: { type: "text" },
};
const route = chooseRoute(capability, input, { preferredModel: "sandbox-1" }, "http://connect");

test("deferred work is expected at half of the token rates and held at the full rates, with the fee on each", async () => {
  const standard = await estimate(capability, { input, route, call });
  const deferred = await estimate(capability, { input, route, call, processing: "deferred" });
  expect(standard).toMatchObject({ processing: "standard", deferredDiscountBps: 0 });
  expect(standard.expectedUpstreamMicros).toBe(standard.maximumUpstreamMicros);
  expect(deferred).toMatchObject({
    processing: "deferred",
    deferredDiscountBps: 5_000,
    maximumUpstreamMicros: standard.maximumUpstreamMicros,
    maximumMicros: standard.maximumMicros,
    expectedUpstreamMicros: Math.ceil(standard.maximumUpstreamMicros / 2),
  });
  expect(deferred.expectedMicros).toBeGreaterThan(deferred.expectedUpstreamMicros);
});

test("an unknown price is EstimateUnavailable, never zero", async () => {
  const { flexDiscountBps: _none, ...price } = route.model.price as { flexDiscountBps?: number };
  const plain = { ...route, model: { ...route.model, price } as typeof route.model };
  await expect(
    estimate(capability, { input, route: plain, call, processing: "deferred" }),
  ).rejects.toMatchObject({
    code: "EstimateUnavailable",
  });
  const perMesh = { ...route, model: { ...route.model, price: { per: "mesh" as const, micros: 400_000 } } };
  await expect(estimate(capability, { input, route: perMesh, call })).rejects.toMatchObject({
    code: "EstimateUnavailable",
  });
});
