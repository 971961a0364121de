import { beforeAll, expect, test } from "vitest";
import { call, makeTenant, type Tenant } from "@/testing/api";

const HOOKS = "/v1/delivery-endpoints";
const url = "https://hooks.example/in";
const whsec = (bytes: number) => `whsec_${Buffer.alloc(bytes, 0xfb).toString("base64")}`;
const text = "a".repeat(30);

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

test.each([
  ...["", "a", "  ", " ".repeat(30), "a text of 23 characters"].map((secret) => ["too short", secret]),
  ...["whsec_", "whsec_YQ==", whsec(23), whsec(65)].map((secret) => ["of too few or too many bytes", secret]),
  ["not base64", `whsec_${"not base64 ".repeat(3)}`],
  ["in the alphabet of URLs", `whsec_${Buffer.alloc(32, 0xfb).toString("base64url")}`],
  ["base64 that strict libraries refuse", whsec(32).replace("s=", "t=")],
  ["base64 that strict libraries refuse", whsec(25).replace("w==", "x==")],
  ...[" ", "\t", "\n", "\u00a0"].flatMap((blank) => [
    ["padded", blank + text],
    ["padded", text + blank],
  ]),
  ["padded", ` ${whsec(32)}`],
  ...["a".repeat(513), "😀".repeat(513), "a".repeat(100_000)].map((secret) => ["too long", secret]),
])(
  "a new secret that is %s is refused when an endpoint is created and when it is changed",
  async (_, secret) => {
    const { endpointId } = (await tenant.post(HOOKS, { url, secret: text, enabled: false })).json;
    for (const { status, json } of [
      await tenant.post(HOOKS, { url, secret }),
      await call("PATCH", `${HOOKS}/${endpointId}`, { key: tenant.key, body: { secret } }),
    ]) {
      expect(status).toBe(422);
      expect(json.detail).toMatchObject([
        {
          loc: ["body", "secret"],
          msg: "Send whsec_ and the base64 of 24 to 64 bytes, or a text of 24 to 512 characters without blanks at its ends.",
        },
      ]);
    }
  },
);

test("a generated secret is returned once in the form that libraries accept, and a sent one is not returned", async () => {
  const signingSecret = `whsec_${Buffer.from(text).toString("base64")}`;
  const made = (await tenant.post(HOOKS, { url, secret: text })).json;
  expect(made).toMatchObject({ signingSecret, weakSecret: false });
  const target = `${HOOKS}/${made.endpointId}`;
  const change = async (body: object) => (await call("PATCH", target, { key: tenant.key, body })).json;
  expect(await change({ secret: text })).toHaveProperty("signingSecret", signingSecret);
  for (const body of [{ secret: whsec(24) }, { secret: whsec(64) }, { secret: null }, { enabled: false }])
    expect(await change(body)).not.toHaveProperty("signingSecret");
  expect((await tenant.get(HOOKS)).text).not.toContain("signingSecret");
  expect((await tenant.post(HOOKS, { url, secret: whsec(24) })).json).not.toHaveProperty("signingSecret");
});
