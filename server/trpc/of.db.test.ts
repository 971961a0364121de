import { expect, test } from "vitest";
import { makePerson, makeTenant } from "@/testing/tenants";
import { appRouter } from "./index";

async function openPanel() {
  const { organizationId, projectId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "owner");
  return { organizationId, projectId, panel: appRouter.createCaller(ctx) };
}

/** Input of an older page, which may lack the types of this build. */
const untyped = (input: object) => input as never;

test("a field that is optional for programs and required by the panel is named when it is missing", async () => {
  const { panel } = await openPanel();
  for (const asked of [
    panel.adapters.list(untyped({})),
    panel.adapters.createAlias(untyped({ alias: "a", target: { adapterId: "x" } })),
    panel.provenance.createManifest(untyped({ label: "x", receiptIds: ["y"] })),
    panel.billing.wallet(untyped({ project_id: "x" })),
  ])
    await expect(asked).rejects.toMatchObject({
      code: "BAD_REQUEST",
      cause: { issues: [{ path: [expect.stringMatching(/^(project|organization)Id$/)] }] },
    });
});

test("a field that is in neither path, query nor body is refused in a mutation, and ignored in a list", async () => {
  const { projectId, panel } = await openPanel();
  const asked = panel.adapters.createAlias(
    untyped({ projectId, alias: "a", target: { adapterId: "x" }, weight: 1 }),
  );
  await expect(asked).rejects.toMatchObject({
    code: "BAD_REQUEST",
    cause: { issues: [{ code: "unrecognized_keys", keys: ["weight"] }] },
  });
  const page = { projectId, direction: "forward" };
  expect((await panel.adapters.list(untyped(page))).items).toEqual([]);
});

test("a procedure without an input ignores what an older page sends", async () => {
  const { projectId, panel } = await openPanel();
  expect(await panel.projects.list(untyped({ direction: "forward" }))).toMatchObject([{ projectId }]);
});

test("a body's own rules apply, and its fields reach the verb apart from those of the path", async () => {
  const { panel } = await openPanel();
  const note = "Looked.";
  await expect(panel.budgets.resolve({ hold_id: "hold_none", note })).rejects.toMatchObject({
    code: "BAD_REQUEST",
    cause: { issues: [{ path: ["chargedMicros"] }] },
  });
  await expect(panel.budgets.resolve({ hold_id: "hold_none", note, notCharged: true })).rejects.toMatchObject(
    { code: "NOT_FOUND" },
  );
});

test("the panel passes booleans to operations whose query strings have words for them", async () => {
  const { organizationId, projectId, panel } = await openPanel();
  expect((await panel.billing.transactions({ organizationId, test: true })).items).toEqual([]);
  expect((await panel.jobs.list({ project_id: projectId, selected: true })).items).toEqual([]);
});
