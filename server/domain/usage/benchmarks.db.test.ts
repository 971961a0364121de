import { expect, test } from "vitest";
import { CapabilityBenchmarks } from "@/server/contract/capabilities";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { invoke } from "@/server/domain/jobs";
import { makePerson, makeTenant } from "@/testing/tenants";
import { benchmarks } from ".";

const anonymous: Ctx = {
  ...systemCtx("test"),
  principal: { kind: "anonymous", id: "anonymous", address: "127.0.0.1" },
};
const MATH = "compute.evaluate.v1";

test("anyone can read the definition of a benchmark, with figures of zero", async () => {
  const answer = await benchmarks(anonymous, "text.general.fast.v1");
  expect(CapabilityBenchmarks.parse(answer)).toEqual(answer);
  expect(answer.scores).toBeNull();
  expect(answer.definition.workloadProfiles.length).toBeGreaterThan(0);
  expect(answer.definition.measures.map(({ name }) => name)).toContain("latency");
  expect(answer.coverage).toMatchObject({ projectId: null, executions: 0 });
  expect(answer.coverage.targets.length).toBeGreaterThan(0);
});

test("coverage counts a project's own ended executions only", async () => {
  const [own, other] = await Promise.all([makeTenant(), makeTenant()]);
  const { ctx } = await makePerson(own.organizationId, "member");
  const run = (projectId: string, expression: string) =>
    invoke(systemCtx("test"), MATH, { input: { expression }, context: { projectId } });
  await run(own.projectId, "1 + 1");
  await expect(run(own.projectId, "1 / 0")).rejects.toThrow();
  await run(other.projectId, "2 + 2");
  const { coverage } = await benchmarks(ctx, MATH, own.projectId);
  expect(coverage).toMatchObject({ projectId: own.projectId, executions: 2 });
  expect(coverage.targets).toEqual([
    { target: null, test: false, executions: 2, succeeded: 1, failed: 1, canceled: 0 },
  ]);
  await expect(benchmarks(ctx, MATH, other.projectId)).rejects.toMatchObject({ code: "AuthorizationFailed" });
  await expect(benchmarks(anonymous, MATH, own.projectId)).rejects.toMatchObject({
    code: "AuthenticationFailed",
  });
});
