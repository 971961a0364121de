import { describe, expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { HOUR_MS } from "@/server/platform/time/units";
import { system } from "@/testing/tenants";
import { inlineStep, makeProject } from "@/testing/world";
import { admin } from "./admin.fixture";
import { runAdmin } from "./command";

describe("budgets and holds", () => {
  const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

  test("a budget of a project, an organization or a principal is set, read, raised for a while and removed", async () => {
    const { organizationId, projectId } = await makeProject();
    const { keyId } = await admin("key", "create", "--name", "agent", "--project", projectId);
    const set = (...of: string[]) =>
      admin(
        "budget",
        "set",
        ...of,
        "--ceiling-micros",
        "1000000",
        "--period",
        "day",
        "--enforcement",
        "prevent",
      );
    const ofProject = await set("--project", projectId);
    expect(ofProject).toMatchObject({
      scope: `project:${projectId}`,
      period: "day",
      ceilingMicros: 1_000_000,
      ceilingUsd: 1,
      enforcement: "prevent",
      managedOnly: false,
      spend: { settledMicros: 0, heldMicros: 0, availableMicros: 1_000_000 },
    });
    expect(await set("--organization", organizationId, "--managed-only")).toMatchObject({
      scope: `organization:${organizationId}`,
      managedOnly: true,
    });
    for (const more of [[], ["--organization", organizationId]])
      expect(await set("--principal", keyId, ...more)).toMatchObject({
        scope: `principal:${keyId}`,
        organizationId,
      });
    const { items } = await admin("budget", "list", "--organization", organizationId);
    expect(items.map((item: { scope: string }) => item.scope.split(":")[0])).toEqual([
      "organization",
      "project",
      "principal",
    ]);
    expect((await admin("budget", "list", "--project", projectId)).items).toHaveLength(1);
    expect((await runAdmin(["budget", "list", "--project", projectId])).out).toMatch(
      /periodStart=\S+ periodEnd=\S+ settledMicros=0 heldMicros=0 availableMicros=1000000/,
    );
    const { budgetId } = ofProject;
    const until = new Date(Date.now() + HOUR_MS).toISOString();
    const raise = ["budget", "increase", "--budget", budgetId, "--amount-micros", "5"];
    expect(await admin(...raise, "--until", until, "--reason", "A launch")).toMatchObject({
      effectiveCeilingMicros: 1_000_005,
      temporaryIncrease: { amountMicros: 5, until, reason: "A launch" },
    });
    expect(await admin("budget", "clear-increase", "--budget", budgetId)).toMatchObject({
      effectiveCeilingMicros: 1_000_000,
    });
    expect(await admin("budget", "remove", "--budget", budgetId)).toMatchObject({ enforcement: "off" });
    expect(await runAdmin([...raise, "--until", "tomorrow", "--reason", "x"])).toMatchObject({
      code: 2,
      error: expect.stringContaining("--until"),
    });
  });

  test.each([
    [[], "Set one of --project, --organization or --principal."],
    [
      ["--project", "cpr_none"],
      "There is no such project. Check the id or name, and that you have access to it.",
    ],
    [
      ["--principal", "key_none"],
      "There is no such key or member. Check the id or name, and that you have access to it.",
    ],
    [
      ["--project", "cpr_none", "--organization", "org_none"],
      "Use --project without --organization and --principal.",
    ],
    [
      ["--project", "cpr_none", "--ceiling-micros", "1.5"],
      "--ceiling-micros must be a whole number of micros.",
    ],
    [["--project", "cpr_none", "--period", "week"], '--period: "week" is not one of day, month, total.'],
  ])("budget set %j is refused: %s", async (given, error) => {
    const complete = ["--ceiling-micros", "1", "--period", "day", "--enforcement", "warn"];
    const rest = complete.filter((_, at) => !given.includes(complete[at - (at % 2)]!));
    expect(await runAdmin(["budget", "set", ...given, ...rest])).toMatchObject({ code: 2, error });
  });

  test("holds are listed, and an ambiguous one is resolved once", async () => {
    const project = await makeProject();
    const lost = { executionConstraints: { preferredModel: "sandbox-lost" } };
    const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", { input, execution: lost });
    const list = async (...more: string[]) =>
      (await admin("hold", "list", "--project", project.projectId, ...more)).items;
    expect(await list("--state", "open")).toMatchObject([{ executionId: jobId, state: "open" }]);
    await jobs.run(system, jobId, inlineStep(project.clock));
    expect(await list("--state", "open")).toEqual([]);
    const [{ holdId }] = await list();
    const resolve = ["hold", "resolve", "--hold", holdId];
    for (const wrong of [[], ["--charged-micros", "1", "--not-charged"]])
      expect(await runAdmin([...resolve, ...wrong, "--note", "x"])).toMatchObject({
        code: 2,
        error: "Set either --charged-micros or --not-charged.",
      });
    expect(await admin(...resolve, "--charged-micros", "12", "--note", "Invoice 7")).toMatchObject({
      state: "settled",
      settledMicros: 12,
      resolvedBy: "admin",
      note: "Invoice 7",
    });
    expect(await runAdmin([...resolve, "--not-charged", "--note", "x"])).toMatchObject({
      code: 2,
      error: "This hold is already settled.",
    });
    expect(await list()).toEqual([]);
  });

  test("matching holds are resolved alike, after a dry run that only counts", async () => {
    const project = await makeProject();
    const lose = async (capability: string, billingMode: "managed" | "byok") => {
      const { jobId } = await jobs.submit(project.ctx, capability, {
        input,
        execution: { billingMode, executionConstraints: { preferredModel: "sandbox-lost" } },
      });
      await jobs.run(system, jobId, inlineStep(project.clock));
    };
    await lose("text.general.fast.v1", "managed");
    await lose("text.general.fast.v1", "managed");
    await lose("text.general.fast.v1", "byok");
    const resolve = ["holds", "resolve", "--project", project.projectId, "--note", "Not on the bill"];
    for (const wrong of [[], ["--charged", "--not-charged"]])
      expect(await runAdmin([...resolve, ...wrong])).toMatchObject({
        code: 2,
        error: "Set either --charged or --not-charged.",
      });
    const managed = [...resolve, "--not-charged", "--billing-mode", "managed", "--test"];
    const counted = await admin(...managed, "--dry-run");
    expect(counted).toMatchObject({ dryRun: true, matched: 2, resolved: 2, refused: 0, chargedMicros: 0 });
    expect(await admin(...resolve, "--not-charged", "--live")).toMatchObject({ matched: 0, resolved: 0 });
    expect(await admin(...managed)).toEqual({ ...counted, dryRun: false });
    expect(await admin(...managed)).toMatchObject({ matched: 0 });
    const rest = await admin(...resolve, "--charged", "--provider", "sandbox");
    expect(rest).toMatchObject({ resolved: 1, chargedMicros: rest.reservedMicros });
    expect((await admin("hold", "list", "--project", project.projectId)).items).toEqual([]);
  });
});
