import type { Capability } from "@/server/capabilities/define";
import type { CapabilityBenchmarks } from "@/server/contract/capabilities";
import { JsonObject } from "@/server/contract/common";
import { access } from "@/server/domain/access";
import { executionTargets, getCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { lastDays } from "./days";
import { usageByGroup } from "./roll-up";

/** Version of the measures and workloads; a change of either needs a new id. */
const BENCHMARK_POLICY = "benchmark_2026_11_1";
const DAYS = 90;

const OF_ALL = [
  {
    name: "success_rate",
    unit: "share",
    description: "Succeeded executions as a share of those that ended.",
  },
  {
    name: "latency",
    unit: "ms",
    description: "Time from submission to the end: median and 95th percentile.",
  },
  {
    name: "cost",
    unit: "usd_micros",
    description: "Known provider cost per execution.",
  },
];
const OF_OUTPUT: Record<Capability["outputKind"], { name: string; unit: string; description: string }> = {
  text: {
    name: "output_rate",
    unit: "tokens_per_second",
    description: "Output tokens per second of execution.",
  },
  structured: {
    name: "schema_validity",
    unit: "share",
    description: "Share of answers that match their schema.",
  },
  artifact: {
    name: "completeness",
    unit: "share",
    description: "Delivered artifacts as a share of those requested.",
  },
};

/**
 * Returns the definition of a benchmark of the capability's models, and the part that a project's
 * executions of the last 90 days cover. Scores are not computed. Without a project all figures are zero.
 */
export async function benchmarks(
  ctx: Ctx,
  capabilityKey: string,
  projectId?: string,
): Promise<CapabilityBenchmarks> {
  const capability = getCapability(capabilityKey);
  const own = await projectOf(ctx, projectId);
  return {
    capabilityKey: capability.key,
    benchmarkPolicyId: BENCHMARK_POLICY,
    scores: null,
    definition: {
      workloadProfiles: capability.examples.map(({ title, input }, place) => ({
        id: `${capability.key}/example-${place + 1}`,
        title,
        input: JsonObject.parse(input),
      })),
      measures: [...OF_ALL, OF_OUTPUT[capability.outputKind]],
    },
    coverage: own === null ? noCoverage(capability) : await coverageOf(ctx, capability, own),
  };
}

/** Returns the named project, or the one that the key is bound to. Null if neither exists. */
async function projectOf(ctx: Ctx, named: string | undefined): Promise<string | null> {
  const { principal } = ctx;
  const bound = principal.kind === "service_principal" ? principal.projectId : null;
  if (named === undefined && bound === null) return null;
  return (await access.authorize(ctx, "jobs:read", { projectId: named })).id;
}

type Coverage = CapabilityBenchmarks["coverage"];

const none = { executions: 0, succeeded: 0, failed: 0, canceled: 0 };
const targetsOfPort = (capability: Capability) =>
  executionTargets(capability).targets.map(({ target }) => target);

function noCoverage(capability: Capability): Coverage {
  return {
    projectId: null,
    from: null,
    to: null,
    executions: 0,
    targets: targetsOfPort(capability).map((target) => ({
      target,
      test: target.startsWith("sandbox/"),
      ...none,
    })),
  };
}

async function coverageOf(ctx: Ctx, capability: Capability, projectId: string): Promise<Coverage> {
  const days = lastDays(DAYS, ctx.now());
  const rows = (await usageByGroup([projectId], days)).filter((row) => row.capability_key === capability.key);
  const counted = new Map<string, Coverage["targets"][number]>(
    noCoverage(capability).targets.map((each) => [`${each.target} ${each.test}`, each]),
  );
  for (const row of rows) {
    const target = row.provider ? `${row.provider}/${row.model}` : null;
    const name = `${target} ${row.is_test}`;
    const before = counted.get(name) ?? { target, test: row.is_test, ...none };
    const ended = row.succeeded + row.failed + row.canceled;
    // Executions of an unjudged comparison have no model yet; they are counted after the judgement.
    if (target === null && ended === 0) continue;
    counted.set(name, {
      ...before,
      executions: before.executions + ended,
      succeeded: before.succeeded + row.succeeded,
      failed: before.failed + row.failed,
      canceled: before.canceled + row.canceled,
    });
  }
  const targets = [...counted.values()];
  return {
    projectId,
    from: days[0]?.day ?? null,
    to: days.at(-1)?.day ?? null,
    executions: targets.reduce((sum, each) => sum + each.executions, 0),
    targets,
  };
}
