import { expect, test } from "vitest";
import { signedHeaders } from "@/server/domain/webhooks/sign";
import { verifyWebhook, WebhookSignatureError } from "./index";

const SECRET = `whsec_${Buffer.from("24 bytes of a secret key").toString("base64")}`;
const body = JSON.stringify({ id: "1", type: "job.succeeded", payload: { title: "Ägäis" } });
const signed = (secret = SECRET, at = new Date()) => signedHeaders(secret, "evt_1", body, at);
const refused = (delivery: Partial<Parameters<typeof verifyWebhook>[0]>) =>
  expect(verifyWebhook({ body, headers: signed(), secret: SECRET, ...delivery })).rejects.toThrow(
    WebhookSignatureError,
  );

test("the service's own signature is accepted, in every form of body, headers and secret", async () => {
  const event = JSON.parse(body);
  expect(await verifyWebhook({ body, headers: signed(), secret: SECRET })).toEqual(event);
  const bytes = new TextEncoder().encode(body);
  expect(await verifyWebhook({ body: bytes, headers: new Headers(signed()), secret: SECRET })).toEqual(event);
  const text = "a secret that is plain text, ü";
  expect(await verifyWebhook({ body, headers: signed(text), secret: [SECRET, text] })).toEqual(event);
  const two = { ...signed(), "webhook-signature": `v1,AAAA v2,x ${signed()["webhook-signature"]}` };
  expect(await verifyWebhook({ body, headers: two, secret: SECRET })).toEqual(event);
});

test("a webhook with a changed body or id, an invalid or old timestamp, a wrong or no secret, or no signature is refused", async () => {
  await refused({ body: `${body} ` });
  await refused({ secret: "another secret" });
  await refused({ secret: [] });
  await refused({ secret: "whsec_not base64" });
  await refused({ headers: {} });
  await refused({ headers: { ...signed(), "webhook-id": "evt_2" } });
  await refused({ headers: { ...signed(), "webhook-timestamp": "soon" } });
  await refused({ headers: { ...signed(), "webhook-signature": "v1," } });
  await refused({ headers: signed(SECRET, new Date(Date.now() - 301_000)) });
  await refused({ headers: signed(SECRET, new Date(Date.now() + 400_000)) });
});
