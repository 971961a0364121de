import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { publicUrl } from "@/server/platform/settings/env";
import { call, finish, makeTenant, sessionOf } from "@/testing/api";

/* The calls of an existing client of this interface, as data. */

type Recorded = {
  name: string;
  as?: string;
  method: string;
  path: string;
  body?: unknown;
  status: number;
  /** The expected values at paths of the answer; `<string>` expects any value of that type. */
  fields: Record<string, unknown>;
  /** Values that later calls refer to as `{name}`, by their path in the answer. */
  keep?: Record<string, string>;
  then?: string;
};

const recorded: Recorded[] = JSON.parse(readFileSync("testing/recorded/older-client.json", "utf8"));

const KINDS: Record<string, (value: unknown) => boolean> = {
  "<array>": Array.isArray,
  "<object>": (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "<string>": (value) => typeof value === "string" && value !== "",
  "<number>": (value) => typeof value === "number",
  "<boolean>": (value) => typeof value === "boolean",
  "<hex>": (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value),
  "<absent>": (value) => value === undefined,
};

/** The value at a path; the empty path is the whole value. */
const valueAt = (json: unknown, path: string): unknown =>
  path
    .split(".")
    .filter(Boolean)
    .reduce((value: unknown, name) => (value as Record<string, unknown> | undefined)?.[name], json);

/** The fields of an answer that differ from the recording. */
function differences(json: unknown, fields: Record<string, unknown>): string[] {
  return Object.entries(fields).flatMap(([path, wanted]) => {
    const value = valueAt(json, path);
    const isAsWanted = KINDS[String(wanted)]?.(value) ?? JSON.stringify(value) === JSON.stringify(wanted);
    return isAsWanted ? [] : [`${path} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`];
  });
}

test("the calls of an older client are answered as recorded", async () => {
  const tenant = await makeTenant();
  const cookie = await sessionOf(tenant.organizationId, "owner");
  const known: Record<string, unknown> = { projectId: tenant.projectId };
  const named = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replace(/"\{(\w+)\}"/g, (whole, name) => JSON.stringify(known[name]) ?? whole)
        .replace(/\{(\w+)\}/g, (whole, name) => String(known[name] ?? whole)),
    );
  const wrong: string[] = [];
  for (const { name, as = "key", then, ...each } of recorded) {
    const token = { key: tenant.key, unbound: tenant.unboundKey, panel: known.accessToken }[as];
    const key = typeof token === "string" ? { key: token } : {};
    const { status, json, text } = await call(each.method, named(each.path), {
      ...key,
      ...(as === "person" ? { headers: { cookie, origin: publicUrl } } : {}),
      ...("body" in each ? { body: named(each.body) } : {}),
    });
    const found = status === each.status ? differences(json, named(each.fields)) : [`${status}: ${text}`];
    wrong.push(...found.map((difference) => `${name}: ${difference}`));
    for (const [kept, path] of Object.entries(each.keep ?? {})) known[kept] = valueAt(json, path);
    if (then === "run the job") await finish(String(known.jobId));
  }
  expect(wrong).toEqual([]);
});
