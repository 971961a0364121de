import { expect, test } from "vitest";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { makeProject } from "@/testing/world";
import * as adapters from "..";
import { putAdapter, refusal } from "../adapters.fixture";

const IMAGE = "image.generate.v1";
const all = { limit: 200 };
const here = {};

async function makeAlias(ctx: Ctx, alias = "Hero") {
  const first = await putAdapter(ctx, `${alias} one`);
  const second = await putAdapter(ctx, `${alias} two`);
  const made = await adapters.createAlias(ctx, here, { alias, target: { adapterId: first.adapterId } });
  return { first, second, made };
}

const auditOf = async (projectId: string) =>
  (
    await pool.query(
      "SELECT action, subject, actor_id, details FROM audit_entry WHERE project_id = $1 ORDER BY id",
      [projectId],
    )
  ).rows;

test("a name identifies one adapter of an environment, whatever its case and Unicode composition", async () => {
  const { ctx } = await makeProject();
  await putAdapter(ctx, "Ärger Ω");
  for (const name of ["ärger ω", "A\u0308RGER \u2126", "Ärger Ω"])
    expect(await refusal(putAdapter(ctx, name))).toBe("body.displayName name_taken");
  await putAdapter(ctx, "Arger Ω");
});

test("20 concurrent registrations of one name create one adapter", async () => {
  const { ctx } = await makeProject();
  const tries = Array.from({ length: 20 }, (_, n) => putAdapter(ctx, n % 2 ? "Knight" : "KNIGHT"));
  const settled = await Promise.allSettled(tries);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await adapters.list(ctx, all)).items).toHaveLength(1);
});

test("a list is newest first, page by page; a cursor of another list is refused", async () => {
  const { ctx } = await makeProject();
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.unshift((await putAdapter(ctx, name)).adapterId);
  const first = await adapters.list(ctx, { limit: 2 });
  const rest = await adapters.list(ctx, { limit: 2, cursor: first.nextCursor });
  expect([...first.items, ...rest.items].map(({ adapterId }) => adapterId)).toEqual(ids);
  expect(rest.nextCursor).toBeUndefined();
  for (const cursor of [newId("alias"), "x", ""])
    expect(await refusal(adapters.list(ctx, { limit: 2, cursor }))).toBe("query.cursor value_error");
});

test("an alias points to the last promotion, and keeps every version", async () => {
  const { ctx, projectId } = await makeProject();
  const { first, second, made } = await makeAlias(ctx);
  expect(made).toMatchObject({
    alias: "Hero",
    current: { number: 1, target: { adapterId: first.adapterId, weight: null } },
    versionCount: 1,
    binding: null,
  });
  const target = { adapterId: second.adapterId, weight: 0.8 };
  const promoted = await adapters.promote(ctx, "HERO", here, { target });
  expect(promoted).toMatchObject({ current: { number: 2, target }, versionCount: 2 });
  expect(await adapters.getAlias(ctx, "hero", here)).toEqual(promoted);
  expect((await adapters.get(ctx, second.adapterId)).aliases).toEqual(["Hero"]);
  expect((await adapters.get(ctx, first.adapterId)).aliases).toEqual([]);
  const { items } = await adapters.aliasVersions(ctx, "hero", all);
  expect(items).toEqual([promoted.current, made.current]);
  const page = await adapters.aliasVersions(ctx, "hero", { limit: 1 });
  expect(page).toEqual({ items: [promoted.current], nextCursor: promoted.current.versionId });
  expect(await adapters.aliasVersions(ctx, "hero", { limit: 1, cursor: page.nextCursor })).toEqual({
    items: [made.current],
  });
  expect((await auditOf(projectId)).slice(-2)).toMatchObject([
    { action: "adapter_alias.created", subject: made.aliasId, actor_id: ctx.principal.id },
    {
      action: "adapter_alias.promoted",
      subject: made.aliasId,
      actor_id: ctx.principal.id,
      details: { number: 2, ...target, before: { adapterId: first.adapterId, weight: null } },
    },
  ]);
});

test("a version of another alias is no cursor, and the page after the first version is empty", async () => {
  const { ctx } = await makeProject();
  const { made } = await makeAlias(ctx, "One");
  const other = await makeAlias(ctx, "Two");
  const cursor = made.current.versionId;
  expect(await adapters.aliasVersions(ctx, "one", { ...all, cursor })).toEqual({ items: [] });
  for (const foreign of [other.made.current.versionId, newId("aliasVersion")])
    expect(await refusal(adapters.aliasVersions(ctx, "one", { ...all, cursor: foreign }))).toBe(
      "query.cursor value_error",
    );
});

test("promoting the current target changes nothing; another weight is another version", async () => {
  const { ctx, projectId } = await makeProject();
  const { first, made } = await makeAlias(ctx);
  const before = await auditOf(projectId);
  const same = await adapters.promote(ctx, "Hero", here, { target: { adapterId: first.adapterId } });
  expect(same).toEqual(made);
  expect(await auditOf(projectId)).toEqual(before);
  const weighed = { adapterId: first.adapterId, weight: 0 };
  expect((await adapters.promote(ctx, "Hero", here, { target: weighed })).versionCount).toBe(2);
  expect((await adapters.promote(ctx, "Hero", here, { target: weighed })).versionCount).toBe(2);
});

test("20 concurrent promotions get consecutive numbers, and the alias points to the last", async () => {
  const { ctx, projectId } = await makeProject();
  const { first } = await makeAlias(ctx);
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      adapters.promote(ctx, "hero", here, { target: { adapterId: first.adapterId, weight: (n + 1) / 20 } }),
    ),
  );
  const { items } = await adapters.aliasVersions(ctx, "hero", all);
  expect(items.map(({ number }) => number)).toEqual(Array.from({ length: 21 }, (_, n) => 21 - n));
  const { current, versionCount } = await adapters.getAlias(ctx, "hero", here);
  expect({ current, versionCount }).toEqual({ current: items[0], versionCount: 21 });
  const promoted = (await auditOf(projectId)).filter(({ action }) => action === "adapter_alias.promoted");
  expect(promoted.map(({ details }) => details.number).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 2),
  );
});

test("20 concurrent creations of one alias create one alias", async () => {
  const { ctx } = await makeProject();
  const { adapterId } = await putAdapter(ctx, "x");
  const settled = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) =>
      adapters.createAlias(ctx, here, { alias: n % 2 ? "Hero" : "hero", target: { adapterId } }),
    ),
  );
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await adapters.listAliases(ctx, all)).items).toHaveLength(1);
  expect(await refusal(adapters.createAlias(ctx, here, { alias: "HERO", target: { adapterId } }))).toBe(
    "body.alias name_taken",
  );
});

test("an alias is neither created nor promoted for a missing adapter", async () => {
  const { ctx } = await makeProject();
  const { second } = await makeAlias(ctx);
  await adapters.remove(ctx, second.adapterId);
  const foreign = await putAdapter((await makeProject()).ctx, "x");
  for (const adapterId of [second.adapterId, foreign.adapterId, newId("adapter")]) {
    const target = { adapterId };
    for (const work of [
      () => adapters.createAlias(ctx, here, { alias: "Other", target }),
      () => adapters.promote(ctx, "hero", here, { target }),
    ])
      expect(await refusal(work())).toBe("body.target.adapterId not_found");
  }
  expect((await adapters.listAliases(ctx, all)).items.map(({ alias }) => alias)).toEqual(["Hero"]);
  expect(await refusal(adapters.promote(ctx, "Other", here, { target: second }))).toBe("NotFound");
});

test("concurrent deletes and promotions leave no alias, binding or default on a deleted adapter", async () => {
  const { ctx, projectId } = await makeProject();
  const keeper = await putAdapter(ctx, "keeper");
  const rounds = Array.from({ length: 12 }, async (_, n) => {
    const { adapterId } = await putAdapter(ctx, `moving ${n}`);
    const alias = `alias ${n}`;
    await adapters.createAlias(ctx, here, { alias, target: { adapterId: keeper.adapterId } });
    const promote = (target: string) => adapters.promote(ctx, alias, here, { target: { adapterId: target } });
    const results = await Promise.allSettled([
      promote(adapterId),
      adapters.remove(ctx, adapterId),
      adapters.bindRecipe(ctx, alias, here, {}),
      promote(keeper.adapterId),
      adapters.setDefault(ctx, IMAGE, here, { alias }),
    ]);
    return results.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  });
  for (const reason of (await Promise.all(rounds)).flat())
    expect(["AdapterInUse", "body.target.adapterId not_found"]).toContain(
      await refusal(Promise.reject(reason)),
    );
  const { rows } = await pool.query(
    `SELECT alias.alias FROM adapter_alias alias
     JOIN adapter_alias_version version ON version.id = alias.current_version_id
       OR version.id = (SELECT version_id FROM adapter_binding WHERE alias_id = alias.id)
     JOIN model_adapter adapter ON adapter.id = version.adapter_id
     WHERE alias.project_id = $1 AND adapter.deleted_at IS NOT NULL`,
    [projectId],
  );
  expect(rows).toEqual([]);
});

test("deleting an adapter in use is refused with its references, and a deleted adapter's name is free", async () => {
  const { ctx, projectId } = await makeProject();
  const { first, second, made } = await makeAlias(ctx);
  await adapters.setDefault(ctx, IMAGE, here, { alias: "hero" });
  await adapters.bindRecipe(ctx, "hero", here, {});
  await expect(adapters.remove(ctx, first.adapterId)).rejects.toMatchObject({
    code: "AdapterInUse",
    details: {
      adapterId: first.adapterId,
      references: [
        { kind: "alias", name: "Hero" },
        { kind: "binding", name: "Hero" },
        { kind: "default", name: IMAGE },
      ],
    },
  });
  const { current } = await adapters.promote(ctx, "hero", here, { target: { adapterId: second.adapterId } });
  await expect(adapters.remove(ctx, first.adapterId)).rejects.toMatchObject({
    details: { references: [{ kind: "binding", name: "Hero" }] },
  });
  await adapters.bindRecipe(ctx, "hero", here, { versionId: current.versionId });
  expect(await adapters.remove(ctx, first.adapterId)).toEqual({ adapterId: first.adapterId, deleted: true });
  expect(await refusal(adapters.get(ctx, first.adapterId))).toBe("NotFound");
  expect(await refusal(adapters.remove(ctx, first.adapterId))).toBe("NotFound");
  expect((await auditOf(projectId)).at(-1)).toMatchObject({
    action: "adapter.deleted",
    subject: first.adapterId,
    details: { displayName: "Hero one" },
  });
  // Versions of a deleted adapter can still be read, but not bound.
  const { items } = await adapters.aliasVersions(ctx, "hero", all);
  expect(items.map(({ target }) => target.adapterId)).toEqual([second.adapterId, first.adapterId]);
  const old = { versionId: made.current.versionId };
  expect(await refusal(adapters.bindRecipe(ctx, "hero", here, old))).toBe("body.versionId not_found");
  await putAdapter(ctx, "HERO ONE");
  const { rows } = await pool.query("SELECT display_name, deleted_at FROM model_adapter WHERE id = $1", [
    first.adapterId,
  ]);
  expect(rows).toEqual([{ display_name: "Hero one", deleted_at: expect.any(Date) }]);
});

test("a recipe keeps its version while the alias moves on", async () => {
  const { ctx, projectId } = await makeProject();
  const { second, made } = await makeAlias(ctx);
  const bound = await adapters.bindRecipe(ctx, "hero", here, {});
  expect(bound).toMatchObject({
    alias: "Hero",
    versionId: made.current.versionId,
    number: 1,
    projectId,
    environment: "development",
  });
  const moved = await adapters.promote(ctx, "hero", here, { target: { adapterId: second.adapterId } });
  const { versionId, number, boundAt } = bound;
  expect(moved).toMatchObject({ current: { number: 2 }, binding: { versionId, number, boundAt } });
  expect((await adapters.bindRecipe(ctx, "hero", here, { versionId: null })).number).toBe(2);
  const other = await makeAlias(ctx, "Other");
  for (const foreign of [other.made.current.versionId, newId("aliasVersion")])
    expect(await refusal(adapters.bindRecipe(ctx, "hero", here, { versionId: foreign }))).toBe(
      "body.versionId not_found",
    );
  expect(await refusal(adapters.bindRecipe(ctx, "missing", here, {}))).toBe("NotFound");
  expect((await auditOf(projectId)).filter(({ action }) => action === "adapter_alias.bound")).toMatchObject([
    { subject: made.aliasId, details: { number: 1 } },
    { subject: made.aliasId, details: { number: 2 } },
  ]);
});

test("a default must be an alias of the environment, for a capability that takes adapters", async () => {
  const { ctx, projectId } = await makeProject();
  await makeAlias(ctx);
  const none = { capabilityKey: IMAGE, alias: null, environment: "development", setAt: null };
  expect(await adapters.getDefault(ctx, IMAGE, here)).toEqual(none);
  const set = await adapters.setDefault(ctx, IMAGE, here, { alias: "HERO" });
  expect(set).toEqual({ ...none, alias: "Hero", setAt: expect.any(String) });
  expect(await adapters.getDefault(ctx, IMAGE, here)).toEqual(set);
  expect(await refusal(adapters.setDefault(ctx, IMAGE, here, { alias: "missing" }))).toBe(
    "body.alias not_found",
  );
  for (const [key, wanted] of [
    ["text.general.fast.v1", "path.capability_key value_error"],
    ["image.draw.v1", "UNKNOWN_CAPABILITY"],
  ] as const) {
    expect(await refusal(adapters.getDefault(ctx, key, here))).toBe(wanted);
    expect(await refusal(adapters.setDefault(ctx, key, here, { alias: "hero" }))).toBe(wanted);
    expect(await refusal(adapters.clearDefault(ctx, key, here))).toBe(wanted);
  }
  expect(await adapters.clearDefault(ctx, IMAGE, here)).toEqual(none);
  expect(await adapters.clearDefault(ctx, IMAGE, here)).toEqual(none);
  expect((await auditOf(projectId)).slice(-2)).toMatchObject([
    { action: "adapter_default.set", subject: IMAGE, details: { alias: "Hero", environment: "development" } },
    { action: "adapter_default.cleared", subject: IMAGE },
  ]);
});

test("environments are separate: names, adapters, aliases and defaults of one are unknown in the other", async () => {
  const { ctx, projectId } = await makeProject();
  await pool.query(
    "INSERT INTO environment (id, project_id, slug, display_name) VALUES ($1, $2, 'production', 'Production')",
    [newId("environment"), projectId],
  );
  const { principal } = ctx;
  if (principal.kind !== "service_principal") throw new Error("the project's key");
  const live: Ctx = { ...ctx, principal: { ...principal, environment: "production" } };
  const { first } = await makeAlias(ctx);
  await adapters.setDefault(ctx, IMAGE, here, { alias: "hero" });
  expect(await refusal(adapters.get(live, first.adapterId))).toBe("NotFound");
  expect(await refusal(adapters.remove(live, first.adapterId))).toBe("NotFound");
  expect(await refusal(adapters.getAlias(live, "hero", here))).toBe("NotFound");
  const target = { adapterId: first.adapterId };
  expect(await refusal(adapters.createAlias(live, here, { alias: "Hero", target }))).toBe(
    "body.target.adapterId not_found",
  );
  expect((await adapters.getDefault(live, IMAGE, here)).alias).toBeNull();
  expect((await adapters.list(live, all)).items).toEqual([]);
  expect((await adapters.listAliases(live, all)).items).toEqual([]);
  // A key works only in its own environment, whatever it names.
  for (const environment of ["development", "nowhere"])
    expect(await refusal(adapters.list(live, { ...all, environment }))).toBe("AuthorizationFailed");
  await makeAlias(live);
  expect((await adapters.list(ctx, all)).items).toHaveLength(2);
});

test("another project's adapters and aliases are not found by any caller, and viewers can read but not change their own", async () => {
  const { ctx } = await makeProject();
  const mine = await makeProject();
  const { first } = await makeAlias(ctx);
  expect(await refusal(adapters.get(mine.ctx, first.adapterId))).toBe("NotFound");
  expect(await refusal(adapters.getAlias(mine.ctx, "hero", here))).toBe("NotFound");
  expect(await refusal(adapters.remove(mine.ctx, first.adapterId))).toBe("NotFound");
  const person = (role: "viewer" | "member", organizationId: string): Ctx => ({
    ...ctx,
    principal: {
      kind: "human_session",
      id: newId("user"),
      email: "a@example.com",
      isOperator: false,
      memberships: new Map([[organizationId, role]]),
    },
  });
  const { organizationId, projectId } = mine;
  const own = await putAdapter(mine.ctx, "mine");
  const viewer = person("viewer", organizationId);
  expect(await adapters.get(viewer, own.adapterId)).toEqual(own);
  expect((await adapters.list(viewer, { ...all, projectId })).items).toEqual([own]);
  expect(await refusal(adapters.list(viewer, all))).toBe("PROJECT_REQUIRED");
  expect(await refusal(adapters.get(viewer, first.adapterId))).toBe("NotFound");
  const target = { adapterId: own.adapterId };
  expect(await refusal(adapters.createAlias(viewer, { projectId }, { alias: "x", target }))).toBe(
    "AuthorizationFailed",
  );
  expect(await refusal(adapters.remove(viewer, own.adapterId))).toBe("NotFound");
  const member = person("member", organizationId);
  await adapters.createAlias(member, { projectId }, { alias: "x", target });
  expect(await refusal(adapters.remove(member, own.adapterId))).toBe("AdapterInUse");
});

test("a key with only jobs:read cannot change adapters, aliases or defaults", async () => {
  const { ctx } = await makeProject();
  const { first } = await makeAlias(ctx);
  const { principal } = ctx;
  if (principal.kind !== "service_principal") throw new Error("the project's key");
  const reader: Ctx = { ...ctx, principal: { ...principal, scopes: new Set<Scope>(["jobs:read"]) } };
  const target = { adapterId: first.adapterId };
  for (const work of [
    () => putAdapter(reader, "x"),
    () => adapters.remove(reader, first.adapterId),
    () => adapters.createAlias(reader, here, { alias: "x", target }),
    () => adapters.promote(reader, "hero", here, { target }),
    () => adapters.bindRecipe(reader, "hero", here, {}),
    () => adapters.setDefault(reader, IMAGE, here, { alias: "hero" }),
    () => adapters.clearDefault(reader, IMAGE, here),
  ])
    expect(await refusal(work())).toBe("AuthorizationFailed");
  expect((await adapters.getAlias(reader, "hero", here)).alias).toBe("Hero");
});

test("the database refuses to change an adapter's source or a version's weight, and to delete either", async () => {
  const { ctx } = await makeProject();
  const { first, made } = await makeAlias(ctx);
  const tell = (table: string, set: string, id: string) =>
    pool.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [id]);
  for (const set of [
    "source_ref = 'other/repository'",
    "source_revision = 'main'",
    "file_path = NULL",
    "sha256 = repeat('0', 64)",
    "frozen = false",
    "environment = 'production'",
  ])
    await expect(tell("model_adapter", set, first.adapterId)).rejects.toThrow(/its source never changes/);
  for (const set of [
    "display_name = 'x'",
    "trigger_words = '{x}'",
    "health_status = 'missing', health_detail = 'gone'",
  ])
    await tell("model_adapter", set, first.adapterId);
  await expect(tell("adapter_alias_version", "weight = 2", made.current.versionId)).rejects.toThrow();
  await expect(
    pool.query("DELETE FROM adapter_alias_version WHERE id = $1", [made.current.versionId]),
  ).rejects.toThrow();
  await expect(pool.query("DELETE FROM model_adapter WHERE id = $1", [first.adapterId])).rejects.toThrow();
});
