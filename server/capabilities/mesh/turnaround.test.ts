import { expect, test } from "vitest";
import { MeshFromImageInput } from "@/server/contract/meshes";
import type { ImageCall, ModelFacts } from "@/server/providers/define";
import sandbox from "@/server/providers/sandbox";
import { turnaroundStages } from "./turnaround";

const model = sandbox.models.find(({ id, port }) => id === "sandbox-1" && port === "image") as ModelFacts;

function promptFor(resolvedPrompt: string | undefined, turnaroundMode = "sheet2x2"): string {
  const input = MeshFromImageInput.parse({ baseArtifactId: "art_1", resolvedPrompt, turnaroundMode });
  const [stage] = turnaroundStages(input);
  if (!stage || !("call" in stage.execute)) throw new Error("a turnaround calls a provider");
  const base = { bytes: new Uint8Array(1), mediaType: "image/png" };
  const material = { base, views: [], texture: null, isDrawn: false };
  return (stage.execute.call(input, {}, model, material) as ImageCall).prompt;
}

test("a resolved prompt of 32,000 characters is sent unchanged and alone", () => {
  for (const mode of ["sheet2x2", "perView"])
    expect(promptFor("x".repeat(32_000), mode)).toBe("x".repeat(32_000));
});

test("a shorter prompt is followed by as many instructions as fit", () => {
  const whole = promptFor("A robot");
  expect(whole).toMatch(/^A robot\n\nA turnaround sheet/);
  expect(whole).toContain("the reference picture");
  const shorter = promptFor("x".repeat(31_382));
  expect(shorter.length).toBeLessThanOrEqual(32_000);
  expect(shorter).toContain("A turnaround sheet");
  expect(promptFor(undefined)).toMatch(/^A turnaround sheet/);
});
