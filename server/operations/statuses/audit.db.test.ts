import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { ask, everyStatusHasACase } from "./ask.fixture";
import { everyEndpoint } from "./every-endpoint.fixture";
import { openTenant, owner, tenant } from "./tenant.fixture";

beforeAll(openTenant, 60_000);

everyEndpoint("audit", {
  sample: ({ method, path }) => ({
    method,
    target: path.replace("{organization_id}", tenant.organizationId),
  }),
});

describe("the audit log", () => {
  const log = () => `/v1/organizations/${tenant.organizationId}/audit-log`;
  const read = async (query = "") => (await ask(200, "GET", `${log()}?${query}`, owner)).json;

  test("the log is filtered by action, actor, project, object and day, and its pages have no gaps", async () => {
    const body = { name: "=HYPERLINK(1)", projectId: tenant.projectId };
    const { keyId, apiKey } = (await ask(200, "POST", "/v1/api-keys", { ...owner, body })).json;
    await ask(200, "DELETE", `/v1/api-keys/${keyId}`, owner);
    const { items } = await read(`subject=${keyId}`);
    expect(items.map(({ action }: { action: string }) => action)).toEqual(["key.revoked", "key.created"]);
    const [revoked] = items;
    for (const query of [
      `actor=${revoked.actorId}`,
      `actor=${encodeURIComponent(revoked.actor.toUpperCase())}`,
      `action=key.revoked`,
      `action=key`,
      `projectId=${tenant.projectId}`,
      `from=2020-01-01&to=2999-01-01`,
    ])
      expect((await read(`subject=${keyId}&${query}`)).items).toContainEqual(revoked);
    for (const query of [
      `actor=${newId("user")}`,
      "action=key.rotated",
      "action=ke",
      `projectId=${tenant.otherProjectId}`,
      "to=2020-01-01",
      "from=2999-01-01",
    ])
      expect((await read(`subject=${keyId}&${query}`)).items).toEqual([]);
    const first = await read(`subject=${keyId}&limit=1`);
    expect((await read(`subject=${keyId}&limit=1&cursor=${first.nextCursor}`)).items).toEqual([items[1]]);
    const { text, headers } = await ask(200, "GET", `${log()}-export?subject=${keyId}`, owner);
    expect(headers).toMatchObject({ "content-type": "text/csv; charset=utf-8" });
    const lines = text.split("\r\n");
    expect(lines[0]).toMatch(/^time,action,actor,/);
    expect(lines.slice(1, 3).map((line) => line.split(",")[1])).toEqual(["key.revoked", "key.created"]);
    expect(lines).toHaveLength(4);
    expect(text).not.toContain(apiKey.slice(30));
  });

  test("an invalid action, day or cursor is 422", async () => {
    for (const query of ["action=Key", "action=key.", "from=yesterday", "to=2026-02-30"]) {
      await ask([422, "list"], "GET", `${log()}?${query}`, owner);
      await ask([422, "list"], "GET", `${log()}-export?${query}`, owner);
    }
    for (const query of ["limit=0", "limit=201"]) await ask([422, "list"], "GET", `${log()}?${query}`, owner);
  });
});

everyStatusHasACase("audit");
