import { expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { makeTenant } from "@/testing/api";
import { definePanel, openPanel } from "@/testing/embeds";
import { makePerson } from "@/testing/tenants";
import { appRouter } from "..";

async function room() {
  const tenant = await makeTenant();
  const person = async (role: "owner" | "member" | "viewer") =>
    appRouter.createCaller((await makePerson(tenant.organizationId, role)).ctx).embeds;
  return { tenant, person };
}

test("a member defines, revises and archives an embed, which is audited, and a viewer only reads", async () => {
  const { tenant, person } = await room();
  const [member, viewer] = [await person("member"), await person("viewer")];
  const body = { key: "studio", displayName: "Studio", capabilityKey: "image.generate.v1" };
  const { projectId, organizationId } = tenant;
  const made = await member.define({ ...body, projectId });
  const wide = await member.define({ ...body, organizationId });
  expect([wide.projectId, wide.organizationId]).toEqual([null, organizationId]);
  const revised = await member.change({
    definition_id: made.id,
    allowedOrigins: ["https://app.example"],
  });
  expect(revised.currentVersion).toMatchObject({ version: 2, allowedOrigins: ["https://app.example"] });
  await member.change({ definition_id: made.id, status: "archived" });
  const seen = await viewer.definitions({ project_id: projectId });
  expect(seen.map(({ id, status }) => [id, status])).toEqual([
    [wide.id, "active"],
    [made.id, "archived"],
  ]);
  for (const refused of [
    () => viewer.define({ ...body, key: "mine", projectId }),
    () => viewer.define({ ...body, key: "mine", organizationId }),
    () => viewer.change({ definition_id: wide.id, displayName: "Mine" }),
  ])
    await expect(refused()).rejects.toMatchObject({ code: "FORBIDDEN" });
  const { rows } = await pool.query(
    "SELECT action FROM audit_entry WHERE organization_id = $1 AND subject = $2 ORDER BY id",
    [organizationId, made.id],
  );
  expect(rows.map(({ action }) => action)).toEqual(["panel.created", "panel.changed", "panel.changed"]);
});

test("sessions are found by embed, subject and status, in pages, and a member can end one", async () => {
  const { tenant, person } = await room();
  const [member, viewer] = [await person("member"), await person("viewer")];
  const { id } = await definePanel(tenant);
  const opened = [];
  for (let n = 0; n < 5; n++)
    opened.push(
      await openPanel(tenant, {
        externalSubject: `user-${n % 2}`,
        ...(n < 3 ? { panelDefinitionId: id } : {}),
      }),
    );
  const ids = opened.map(({ sessionId }) => sessionId).reverse();
  const list = (query: Partial<Parameters<typeof viewer.sessions>[0]> = {}) =>
    viewer.sessions({ project_id: tenant.projectId, ...query });
  const idsOf = async (query: Parameters<typeof list>[0]) =>
    (await list(query)).items.map(({ sessionId }) => sessionId);
  expect(await idsOf({})).toEqual(ids);
  expect(await idsOf({ definition_id: id })).toEqual(ids.slice(2));
  expect(await idsOf({ external_subject: "user-1" })).toEqual([ids[1], ids[3]]);
  const first = await list({ limit: 2 });
  const second = await list({ limit: 2, cursor: first.nextCursor });
  const last = await list({ limit: 2, cursor: second.nextCursor });
  expect([first, second, last].flatMap(({ items }) => items.map(({ sessionId }) => sessionId))).toEqual(ids);
  expect(last.nextCursor).toBeUndefined();
  await expect(list({ cursor: "1" })).rejects.toMatchObject({ code: "UNPROCESSABLE_CONTENT" });

  const one = { session_id: ids[4]! };
  await expect(viewer.revokeSession(one)).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect((await member.revokeSession(one)).status).toBe("revoked");
  expect((await opened[0]!.get("/v1/panel/bootstrap")).status).toBe(401);
  expect(await idsOf({ status: "revoked" })).toEqual([ids[4]]);
  await pool.query("UPDATE panel_session SET expires_at = now() WHERE id = $1", [ids[3]]);
  expect(await idsOf({ status: "expired" })).toEqual([ids[3]]);
  expect(await idsOf({ status: "active" })).toEqual(ids.slice(0, 3));
});
