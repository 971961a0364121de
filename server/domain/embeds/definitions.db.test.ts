import pg from "pg";
import { describe, expect, test, vi } from "vitest";
import { ACCESS_CHANGED } from "@/server/domain/access";
import { pool } from "@/server/platform/db";
import { call, makeTenant } from "@/testing/api";
import { definePanel, HOST, openPanel } from "@/testing/embeds";
import { fields, TEXT } from "./embeds.fixture";

describe("embed definitions", () => {
  test("a change of an embed's content makes a version, a rename makes none, and sessions keep their version", async () => {
    const tenant = await makeTenant();
    const made = await definePanel(tenant, { policy: { maxOutputs: 2 } });
    const panel = await openPanel(tenant, { panelDefinitionId: made.id });
    const patch = (body: object) =>
      call("PATCH", `/v1/panel-definitions/${made.id}`, { key: tenant.key, body });
    expect((await patch({ displayName: "Renamed" })).json).toMatchObject({
      displayName: "Renamed",
      currentVersion: { version: 1 },
    });
    const changed = await patch({ policy: { maxOutputs: 4 }, presentation: { pricingDisplay: "hidden" } });
    expect(changed.json.currentVersion).toMatchObject({
      version: 2,
      capabilityKey: TEXT,
      policy: { maxOutputs: 4 },
      presentation: { pricingDisplay: "hidden", showPrompt: true },
    });
    expect((await patch({ policy: { maxOutputs: 4 } })).json.currentVersion.version).toBe(2); // the same again
    expect((await panel.get("/v1/panel/bootstrap")).json).toMatchObject({
      definition: { version: 1, displayName: "Renamed" },
      policy: { maxOutputs: 2 },
    });
    await expect(
      pool.query("UPDATE panel_version SET policy = '{}' WHERE definition_id = $1", [made.id]),
    ).rejects.toThrow("append-only");
  });

  test("only a change of an embed's status empties the caches of callers in every process", async () => {
    const tenant = await makeTenant();
    const { id } = await definePanel(tenant);
    const queries = vi.spyOn(pg.Client.prototype, "query");
    try {
      for (const [body, isAnnounced] of [
        [{ displayName: "Renamed", origin: "project", status: "active" }, false],
        [{ policy: { maxOutputs: 4 }, allowedOrigins: [HOST] }, false],
        [{ status: "disabled" }, true],
      ] as const) {
        queries.mockClear();
        const { json } = await call("PATCH", `/v1/panel-definitions/${id}`, { key: tenant.key, body });
        const [field, value] = Object.entries(body)[0]!;
        expect({ ...json, ...json.currentVersion }).toMatchObject({ [field]: value });
        const announced = queries.mock.calls.filter((each) => JSON.stringify(each).includes(ACCESS_CHANGED));
        expect([body, announced.length > 0]).toEqual([body, isAnnounced]);
      }
    } finally {
      queries.mockRestore();
    }
  });

  test("an embed's key is unique in its project, and the project's own embed precedes the organization's of the same key", async () => {
    const tenant = await makeTenant();
    const body = { key: "studio", displayName: "Studio" };
    const wide = await call("POST", "/v1/panel-definitions", { key: tenant.unboundKey, body });
    expect(wide.json).toMatchObject({ projectId: null, organizationId: tenant.organizationId });
    const own = await definePanel(tenant, { key: "studio" });
    const again = await tenant.post("/v1/panel-definitions", body);
    expect([again.status, fields(again)]).toEqual([422, ["body.key"]]);
    const { json } = await tenant.get(`/v1/panel-definitions?projectId=${tenant.projectId}`);
    expect(json.definitions.map(({ id }: { id: string }) => id)).toEqual([own.id, wide.json.id]);
    const panel = await openPanel(tenant, { panelDefinitionKey: "studio" });
    expect((await panel.get("/v1/panel/bootstrap")).json.definition.id).toBe(own.id);
    // A key of one project reads organization-wide embeds, and changes only its own.
    expect((await tenant.get(`/v1/panel-definitions/${wide.json.id}`)).status).toBe(200);
    const change = (id: string) =>
      call("PATCH", `/v1/panel-definitions/${id}`, { key: tenant.key, body: { displayName: "x" } });
    expect((await change(wide.json.id)).status).toBe(403);
    expect((await change(own.id)).status).toBe(200);
  });

  test("a text that is not an exact page origin, or could mean more in a list of sources, is refused as an origin", async () => {
    const tenant = await makeTenant();
    for (const origin of [
      "http://host.example",
      "https://host.example/",
      "https://host.example/path",
      "https://HOST.example",
      "https://user@host.example",
      "https://*.example",
      "https://a.example;script-src",
      "https://a.example,b",
      "*",
      "null",
      "javascript:alert(1)",
    ]) {
      const panel = { key: "x", displayName: "x", allowedOrigins: [origin] };
      const refused = await tenant.post("/v1/panel-definitions", panel);
      expect([origin, refused.status, fields(refused)]).toEqual([origin, 422, ["body.allowedOrigins.0"]]);
      const session = { projectId: tenant.projectId, allowedOrigins: [origin], maxSpendMicros: 1 };
      expect((await tenant.post("/v1/panel-sessions", session)).status).toBe(422);
    }
    const local = ["http://localhost:4000", "http://127.0.0.1:4000", "https://host.example:8443"];
    const taken = await tenant.post("/v1/panel-definitions", {
      key: "y",
      displayName: "y",
      allowedOrigins: local,
    });
    expect(taken.json.currentVersion.allowedOrigins).toEqual(local);
  });

  test("an embed with an unknown capability, another version, or an invalid action or link is refused", async () => {
    const tenant = await makeTenant();
    const base = { key: "x", displayName: "x" };
    for (const [more, field] of [
      [{ capabilityKey: "nothing.v1" }, "body.capabilityKey"],
      [{ capabilityKey: TEXT, capabilityVersion: "v2" }, "body.capabilityVersion"],
      [{ capabilityVersion: "v1" }, "body.capabilityVersion"],
      [
        { actions: [{ key: "a", label: "A", handler: { kind: "navigation", href: "javascript:alert(1)" } }] },
        "body.actions.0.handler.href",
      ],
      [
        { actions: [{ key: "a", label: "A", handler: { kind: "shell", command: "ls" } }] },
        "body.actions.0.handler.kind",
      ],
    ] as const) {
      const refused = await tenant.post("/v1/panel-definitions", { ...base, ...more });
      expect([refused.status, fields(refused)]).toEqual([422, [field]]);
    }
    const actions = [
      {
        key: "a",
        label: "A",
        handler: { kind: "capability", capability: TEXT },
        inputs: [{ key: "n", label: "N", valueType: "number" }],
      },
      { key: "b", label: "B", handler: { kind: "projectCommand", command: "publish" } },
      { key: "c", label: "C", handler: { kind: "navigation", href: "/jobs" } },
    ];
    const made = await tenant.post("/v1/panel-definitions", {
      ...base,
      capabilityKey: TEXT,
      capabilityVersion: "v1",
      actions,
    });
    expect(
      made.json.currentVersion.actions.map(({ handler }: { handler: { kind: string } }) => handler.kind),
    ).toEqual(["capability", "projectCommand", "navigation"]);
  });
});
