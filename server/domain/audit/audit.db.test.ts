import { expect, test } from "vitest";
import { endpoint, respond } from "@/server/api/endpoint";
import * as audit from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction, pool, prisma } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { incoming, ownAddress } from "@/testing/requests";
import { makePerson, makeTenant, system } from "@/testing/tenants";

const act = (organizationId: string, subject: string, action = "thing.changed") => ({
  organizationId,
  subject,
  action,
});

const recordWithAnAct = (ctx: Ctx, done: audit.Act) =>
  inTransaction(async (client) => {
    await client.query("UPDATE organization SET display_name = display_name WHERE id = $1", [
      done.organizationId,
    ]);
    await audit.record(ctx, done, client);
  });

test("an act recorded outside its own transaction is refused in tests", async () => {
  const { organizationId } = await makeTenant();
  const done = act(organizationId, newId("budget"));
  const alone = "audit row thing.changed is not in the transaction of its act";
  const rename = "UPDATE organization SET display_name = 'Renamed' WHERE id = $1";
  await expect(
    (async () => {
      await inTransaction((client) => client.query(rename, [organizationId]));
      await inTransaction((client) => audit.record(system, done, client));
    })(),
  ).rejects.toThrow(alone);
  // @ts-expect-error A Prisma client is no transaction.
  await expect(audit.record(system, done, prisma)).rejects.toThrow();
  // @ts-expect-error The pool is no transaction.
  await expect(audit.record(system, done, pool)).rejects.toThrow(alone);
  await recordWithAnAct(system, done);
});

test("an audit entry has the actor and the address of the request", async () => {
  const { organizationId, apiKey, keyId } = await makeTenant();
  const subject = newId("budget");
  const changes = endpoint({
    method: "POST",
    path: "/v1/things",
    summary: "A thing",
    auth: ["service_principal"],
    output: { rawMediaType: "text/plain" },
    errors: [],
    run: async (ctx) => {
      await recordWithAnAct(ctx, act(organizationId, subject));
      return { status: 200, headers: {}, body: "" };
    },
  });
  const address = ownAddress();
  expect((await respond(changes, incoming({ key: apiKey, address, method: "POST" }))).status).toBe(200);
  const { rows } = await pool.query("SELECT prefix, name FROM api_key WHERE id = $1", [keyId]);
  const { items } = await audit.entries(system, { subjects: [subject], limit: 25 });
  expect(items).toEqual([
    {
      entryId: expect.stringMatching(/^aud_/),
      action: "thing.changed",
      actorId: keyId,
      actorKind: "service_principal",
      actor: rows[0].prefix,
      actorName: rows[0].name,
      address,
      createdAt: expect.any(String),
    },
  ]);
});

test("the actor of an entry is the person's email or the system's name, and work without a request has no address", async () => {
  const { organizationId } = await makeTenant();
  const { ctx, email } = await makePerson(organizationId, "admin");
  const subject = newId("budget");
  await recordWithAnAct({ ...ctx, address: "192.0.2.7" }, act(organizationId, subject, "thing.made"));
  await recordWithAnAct(system, act(organizationId, subject, "thing.ended"));
  const { items } = await audit.entries(system, { subjects: [subject], limit: 25 });
  expect(items.map(({ action, actor, actorName, address }) => [action, actor, actorName, address])).toEqual([
    ["thing.ended", system.principal.id, null, null],
    ["thing.made", email, email, "192.0.2.7"],
  ]);
});

test("pages follow each other without a gap and contain only the named subject", async () => {
  const { organizationId } = await makeTenant();
  const [subject, other] = [newId("budget"), newId("budget")];
  for (const action of ["a", "b", "c"]) {
    await recordWithAnAct(system, act(organizationId, subject, action));
    await recordWithAnAct(system, act(organizationId, other, action));
  }
  const first = await audit.entries(system, { subjects: [subject], limit: 2 });
  const rest = await audit.entries(system, { subjects: [subject], limit: 2, cursor: first.nextCursor });
  expect([first, rest].map(({ items }) => items.map(({ action }) => action))).toEqual([["c", "b"], ["a"]]);
  expect(rest.nextCursor).toBeUndefined();
});

test("only an operator reads audit entries", async () => {
  const { organizationId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "owner");
  await expect(audit.entries(ctx, { subjects: [organizationId], limit: 25 })).rejects.toMatchObject({
    code: "AuthorizationFailed",
  });
});
