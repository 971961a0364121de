import { expect, test } from "vitest";
import * as audit from "@/server/domain/audit";
import * as budgets from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import * as notifications from "@/server/domain/notifications";
import * as organizations from "@/server/domain/organizations";
import * as pins from "@/server/domain/pins";
import * as requests from "@/server/domain/requests";
import { newId } from "@/server/platform/ids";
import { makePerson, makeTenant } from "@/testing/tenants";
import { floorOf, floorWithin, idsBetween, nullEndedPageOf, toPage } from "./paging";

test("a page has a cursor only if more rows follow, and the null-ended form ends with null", () => {
  const rows = [{ id: "a" }, { id: "b" }, { id: "c" }];
  const idOf = ({ id }: { id: string }) => id;
  expect(toPage(rows, 2, idOf)).toEqual({ items: ["a", "b"], nextCursor: "b" });
  expect(toPage(rows, 3, idOf)).toStrictEqual({ items: ["a", "b", "c"] });
  expect(toPage([{ id: 7 }, { id: 8 }], 1, ({ id }) => id)).toEqual({ items: [7], nextCursor: "7" });
  expect(nullEndedPageOf(rows, 2, idOf)).toEqual({ items: ["a", "b"], nextCursor: "b" });
  expect(nullEndedPageOf([], 2, idOf)).toStrictEqual({ items: [], nextCursor: null });
});

test("a page that stopped at its bound goes on from there, unless it is full or has read its whole window", () => {
  const rows = [{ id: "c" }, { id: "b" }];
  const idOf = ({ id }: { id: string }) => id;
  expect(toPage([], 2, idOf, "a")).toEqual({ items: [], nextCursor: "a" });
  expect(toPage(rows, 2, idOf, "a")).toEqual({ items: ["c", "b"], nextCursor: "a" });
  expect(toPage(rows, 1, idOf, "a")).toEqual({ items: ["c"], nextCursor: "c" });
  expect(nullEndedPageOf([], 2, idOf, null)).toEqual({ items: [], nextCursor: null });
  const id = newId("job");
  const floor = floorOf("job", id);
  expect([floor.slice(0, 14), floor.slice(14)]).toEqual([id.slice(0, 14), "0".repeat(16)]);
  const now = new Date();
  const { least, above } = idsBetween("job", now, now);
  expect([least, id, above].toSorted()).toEqual([least, id, above]);
  expect(floorWithin(floor, least)).toBe(floor);
  expect(floorWithin(floor, id)).toBe(null);
});

type List = (ctx: Ctx, page: { limit: number; cursor: string }, organizationId: string) => Promise<object>;
const LISTS: [name: string, list: List][] = [
  ["holds", budgets.listHolds],
  ["notifications", notifications.list],
  ["emails", notifications.outbox],
  ["an audit trail", (ctx, page) => audit.entries(ctx, { subjects: ["x"], ...page })],
  ["the audit log", (ctx, page, organizationId) => organizations.auditLog(ctx, organizationId, page)],
  ["payments", (ctx, page, organizationId) => requests.listPaid(ctx, { organizationId, ...page })],
  ["bulks", pins.listBulks],
  ["plans", organizations.listPlanSettings],
];

test.each(LISTS)("%s: a cursor of another list is refused", async (_name, list) => {
  const { organizationId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "owner");
  const { principal } = ctx;
  if (principal.kind !== "human_session") throw new Error("a person has a session");
  const operator: Ctx = { ...ctx, principal: { ...principal, isOperator: true } };
  for (const cursor of ["x", newId("job"), "zzz"])
    await expect(list(operator, { limit: 5, cursor }, organizationId)).rejects.toMatchObject({
      issues: [{ loc: ["query", "cursor"], type: "value_error" }],
    });
});
