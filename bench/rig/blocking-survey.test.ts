import { expect, test } from "vitest";
import type { Operation } from "./blocking-operations";
import { isOver, type Row, survey } from "./blocking-survey";

const MEGABYTE = 1024 * 1024;
const schema = {
  type: "object",
  properties: { text: { type: "string" }, anything: {} },
};
const operation = (name: string, limit = MEGABYTE, route = name): Operation => ({
  ...{ name, route, path: name, method: "POST", limit, schema, base: { text: "x" } },
  toBody: JSON.stringify,
});
const ACCEPTS = operation("/v1/accepts/invoke", 2 * MEGABYTE);
const REFUSES = operation("/v1/refuses/invoke", 2 * MEGABYTE);
const SAME_ROUTE = operation("/v1/also/invoke", 2 * MEGABYTE, ACCEPTS.route);

async function tried(operations: Operation[], isSlow: (body: string) => boolean, isWhole = false) {
  const measure = async (operation: Operation, what: string, value: unknown): Promise<Row> => {
    const body = operation.toBody(value);
    const status = operation === REFUSES ? 400 : 200;
    const cpuMs = isSlow(body) ? 60 : 1;
    return {
      ...{ operation: operation.name, what, bytes: body.length, status, tries: 1, cpuMs },
      ...{ wallMs: cpuMs, tookMs: cpuMs },
    };
  };
  return survey(operations, measure, { isWhole, hasLargeBodies: true, say() {} });
}
const bodiesOf = ({ name }: Operation, rows: Row[]) =>
  rows
    .filter((row) => row.operation === name)
    .map(({ what, bytes }) => ({ what, isLarge: bytes > MEGABYTE }));

test("a body that is slow at the first operation of a schema is tried at every other one", async () => {
  const rows = await tried([REFUSES, ACCEPTS, SAME_ROUTE], (body) => body.includes('"anything":[[[[[['));
  const slow = rows.filter(isOver);
  expect(new Set(slow.map(({ operation }) => operation))).toEqual(
    new Set([REFUSES, ACCEPTS, SAME_ROUTE].map(({ name }) => name)),
  );
  for (const { what } of slow) expect(what).toBe("anything: deep lists");
  expect(rows[0]?.operation, "a route that accepts its least body comes first").toBe(ACCEPTS.name);
});

test("every small body goes to one operation of a schema, and large bodies go to one operation of each route", async () => {
  const rows = await tried([ACCEPTS, SAME_ROUTE, REFUSES], () => false);
  const whole = await tried([ACCEPTS], () => false, true);
  const small = (some: typeof rows) => bodiesOf(ACCEPTS, some).filter(({ isLarge }) => !isLarge);
  expect(small(rows)).toEqual(small(whole));
  expect(bodiesOf(SAME_ROUTE, rows).length).toBeLessThan(small(whole).length / 2);
  const hasLarge = (each: Operation) => bodiesOf(each, rows).some(({ isLarge }) => isLarge);
  expect([ACCEPTS, REFUSES, SAME_ROUTE].map(hasLarge)).toEqual([true, true, false]);
});

test("bodies made for 1 MiB are not larger, and several fill more than 90 % of it", async () => {
  const list = {
    type: "object",
    properties: { items: { type: "array", items: { type: "object", properties: schema.properties } } },
  };
  const rows = await tried([{ ...operation("/v1/lists"), schema: list, base: {} }], () => false);
  for (const { what, bytes } of rows) expect(bytes, what).toBeLessThanOrEqual(MEGABYTE);
  const fullest = rows.filter(({ bytes }) => bytes > MEGABYTE * 0.9).map(({ what }) => what);
  expect(fullest).toEqual(
    expect.arrayContaining([
      "items.0.anything: many keys",
      "items.0.text: in each of 1000",
      "items.0.text: in each of 11250",
    ]),
  );
});
