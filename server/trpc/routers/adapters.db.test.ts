import { expect, test } from "vitest";
import * as adapters from "@/server/domain/adapters";
import { putAdapter } from "@/server/domain/adapters/adapters.fixture";
import type { Ctx } from "@/server/domain/ctx";
import { newId } from "@/server/platform/ids";
import { makePerson } from "@/testing/tenants";
import { makeProject, type TestProject } from "@/testing/world";
import { appRouter } from "../index";

const IMAGE = "image.generate.v1";

async function personOf({ organizationId, clock }: TestProject, role: "owner" | "member" | "viewer") {
  const person = await makePerson(organizationId, role);
  const ctx: Ctx = { ...person.ctx, now: clock.now };
  return { ...person, panel: appRouter.createCaller(ctx).adapters };
}

test("a member names, promotes and pins the version that a request uses, and the history shows who did it", async () => {
  const project = await makeProject();
  const { projectId, ctx } = project;
  const { panel, email, userId } = await personOf(project, "member");
  const one = await putAdapter(ctx, "One", { triggerWords: ["ohwx"], recommendedWeight: 0.7 });
  const two = await putAdapter(ctx, "Two");
  const first = await panel.createAlias({ projectId, alias: "Hero", target: { adapterId: one.adapterId } });
  const named = { projectId, alias_name: "hero" };
  expect(await panel.promote({ ...named, target: { adapterId: two.adapterId, weight: 0.5 } })).toMatchObject({
    versionCount: 2,
    current: { number: 2, target: { adapterId: two.adapterId, weight: 0.5 } },
  });
  expect(await panel.bind({ ...named, versionId: first.current.versionId })).toMatchObject({ number: 1 });
  expect(await panel.setDefault({ projectId, capability_key: IMAGE, alias: "HERO" })).toMatchObject({
    alias: "Hero",
  });
  expect(await panel.alias(named)).toMatchObject({ adapter: { displayName: "Two" }, binding: { number: 1 } });
  const { items } = await panel.history({ ...named, limit: 1 });
  expect(items).toMatchObject([{ number: 2, adapter: { displayName: "Two" }, createdByName: email }]);
  const cursor = items[0]?.versionId;
  expect(await panel.history({ ...named, cursor })).toEqual({
    items: [
      {
        ...first.current,
        adapter: await panel.get({ adapter_id: one.adapterId }),
        isAdapterDeleted: false,
        createdBy: userId,
        createdByName: email,
      },
    ],
  });
  expect(await panel.defaults({ projectId })).toEqual([
    {
      capabilityKey: IMAGE,
      title: expect.any(String),
      alias: "Hero",
      environment: "development",
      setAt: expect.any(String),
    },
  ]);
  await panel.clearDefault({ projectId, capability_key: IMAGE });
  expect(await panel.defaults({ projectId })).toMatchObject([{ alias: null, setAt: null }]);
});

test("a version whose adapter was deleted keeps its name in the history, and is in no list", async () => {
  const project = await makeProject();
  const { projectId, ctx } = project;
  const { panel } = await personOf(project, "member");
  const gone = await putAdapter(ctx, "Gone");
  const next = await putAdapter(ctx, "Next");
  await panel.createAlias({ projectId, alias: "a", target: { adapterId: gone.adapterId } });
  await expect(panel.remove({ adapter_id: gone.adapterId })).rejects.toMatchObject({
    code: "CONFLICT",
    cause: { code: "AdapterInUse", details: { references: [{ kind: "alias", name: "a" }] } },
  });
  await panel.promote({ projectId, alias_name: "a", target: { adapterId: next.adapterId } });
  expect(await panel.remove({ adapter_id: gone.adapterId })).toMatchObject({ deleted: true });
  expect((await panel.history({ projectId, alias_name: "a" })).items).toMatchObject([
    { number: 2, isAdapterDeleted: false },
    { number: 1, isAdapterDeleted: true, adapter: { displayName: "Gone" } },
  ]);
  expect((await panel.list({ projectId })).items.map(({ displayName }) => displayName)).toEqual(["Next"]);
  expect((await panel.aliases({ projectId })).items).toMatchObject([{ adapter: { displayName: "Next" } }]);
  await expect(panel.get({ adapter_id: gone.adapterId })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a list is searched by name, alias, trigger word and source, and filtered by family and health", {
  tags: "long",
}, async () => {
  const project = await makeProject();
  const { projectId, ctx } = project;
  const { panel } = await personOf(project, "viewer");
  const moss = await putAdapter(ctx, "Mössy Stones", {
    baseModelFamily: "FLUX.1-dev",
    triggerWords: ["Ohwx"],
  });
  await putAdapter(ctx, "Portraits", { baseModelFamily: "sdxl", ref: "Ada/100%_faces" });
  await putAdapter(ctx, "Tuesday", {
    baseModelFamily: "my own",
    health: { status: "missing", checkedAt: null, detail: null },
  });
  await adapters.createAlias(ctx, {}, { alias: "Hero", target: { adapterId: moss.adapterId } });
  const found = async (query: object) =>
    (await panel.list({ projectId, ...query })).items.map(({ displayName }) => displayName);
  expect(await found({ q: "MÖSSY" })).toEqual(["Mössy Stones"]);
  expect(await found({ q: "ohWX" })).toEqual(["Mössy Stones"]);
  expect(await found({ q: "hero" })).toEqual(["Mössy Stones"]);
  expect(await found({ q: "ada/100%_" })).toEqual(["Portraits"]);
  expect(await found({ q: "%" })).toEqual(["Portraits"]);
  expect(await found({ baseModelFamily: "flux" })).toEqual(["Mössy Stones"]);
  expect(await found({ baseModelFamily: "My Own" })).toEqual(["Tuesday"]);
  expect(await found({ baseModelFamily: "wan" })).toEqual([]);
  expect(await found({ health: "missing" })).toEqual(["Tuesday"]);
  expect(await found({ q: "  " })).toHaveLength(3);
  const first = await panel.list({ projectId, q: "s", limit: 1 });
  const rest = await panel.list({ projectId, q: "s", limit: 5, cursor: first.nextCursor });
  expect([...first.items, ...rest.items].map(({ displayName }) => displayName)).toEqual([
    "Tuesday",
    "Portraits",
    "Mössy Stones",
  ]);
});

test("the models that support an adapter are listed, or the reason why there are none", async () => {
  const project = await makeProject();
  const { ctx } = project;
  const { panel } = await personOf(project, "viewer");
  const usesOf = async (adapter: Promise<{ adapterId: string }>) =>
    (await panel.uses({ adapter_id: (await adapter).adapterId }))[0];
  const good = await usesOf(putAdapter(ctx, "Good"));
  expect(good).toMatchObject({ capabilityKey: IMAGE, problem: null });
  expect(good?.models).toContain("fal/fal-ai/flux-lora");
  expect(await usesOf(putAdapter(ctx, "Loose", { frozen: false }))).toMatchObject({
    models: [],
    problem: expect.stringContaining("catalog-only"),
  });
  expect(await usesOf(putAdapter(ctx, "Lost", { baseModelFamily: "my own" }))).toMatchObject({
    models: [],
    problem: expect.stringContaining("The base model of the adapter"),
  });
});

test("a viewer sees choices, aliases and their history, and changes nothing", async () => {
  const project = await makeProject();
  const { projectId, ctx } = project;
  const { panel } = await personOf(project, "viewer");
  const { adapterId } = await putAdapter(ctx, "Seen");
  await adapters.createAlias(ctx, {}, { alias: "a", target: { adapterId } });
  const named = { projectId, alias_name: "a" };
  expect((await panel.choices()).families).toContainEqual({ name: "flux", title: "FLUX.1" });
  expect((await panel.choices()).capabilities.map(({ key }) => key)).toEqual([IMAGE]);
  expect((await panel.aliases({ projectId })).items).toHaveLength(1);
  expect((await panel.history(named)).items).toHaveLength(1);
  const target = { adapterId };
  const refused = await Promise.allSettled([
    panel.register({
      projectId,
      displayName: "x",
      source: { kind: "provider_ref", ref: "x", provider: "fal" },
    }),
    panel.createAlias({ projectId, alias: "b", target }),
    panel.promote({ ...named, target: { adapterId, weight: 1 } }),
    panel.bind(named),
    panel.setDefault({ projectId, capability_key: IMAGE, alias: "a" }),
    panel.clearDefault({ projectId, capability_key: IMAGE }),
    panel.preview({ projectId, query: "owner/name" }),
    panel.suggest({ projectId, query: "a" }),
    panel.accept({ projectId, query: "a" }),
    panel.revalidate({ adapter_id: adapterId }),
    panel.remove({ adapter_id: adapterId }),
  ]);
  expect(refused.map((answer) => answer.status === "rejected" && answer.reason.code)).toEqual([
    ...Array(9).fill("FORBIDDEN"),
    "NOT_FOUND",
    "NOT_FOUND",
  ]);
});

test("another tenant's adapter, alias, project or environment and a missing one are refused alike", async () => {
  const project = await makeProject();
  const { adapterId } = await putAdapter(project.ctx, "Theirs");
  await adapters.createAlias(project.ctx, {}, { alias: "a", target: { adapterId } });
  const { panel } = await personOf(await makeProject(), "owner");
  const refusals = async (projectId: string, adapter_id: string) => {
    const named = { projectId, alias_name: "a" };
    const tried = await Promise.allSettled([
      panel.get({ adapter_id }),
      panel.uses({ adapter_id }),
      panel.revalidate({ adapter_id }),
      panel.remove({ adapter_id }),
      panel.list({ projectId }),
      panel.aliases({ projectId }),
      panel.alias(named),
      panel.history(named),
      panel.defaults({ projectId }),
      panel.promote({ ...named, target: { adapterId: adapter_id } }),
      panel.bind(named),
      panel.accept({ projectId, query: adapter_id }),
    ]);
    return tried.map((answer) => (answer.status === "rejected" ? answer.reason.message : answer.value));
  };
  const theirs = await refusals(project.projectId, adapterId);
  expect(theirs).toEqual(await refusals(newId("project"), newId("adapter")));
  expect(theirs.every((message) => typeof message === "string")).toBe(true);
  const own = await makeProject();
  const member = await personOf(own, "member");
  for (const environment of ["production", "nowhere"])
    await expect(member.panel.list({ projectId: own.projectId, environment })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
});
