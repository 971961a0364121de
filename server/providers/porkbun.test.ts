import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import porkbun from "./porkbun";
import {
  answersItsFixtures,
  checksCredentials,
  type Signing,
  tellsTheTruthAboutSubmission,
} from "./testing/fixtures";
import { ioFor, startVendor, type Vendor } from "./testing/vendor";

const SECRET = "sk-canary-0a9b8c7d6e5f4a3b2c1d";
const signing: Signing = {
  credentials: { apiKey: "pk1-0a9b", secretApiKey: SECRET },
  headers: { "x-api-key": "pk1-0a9b", "x-secret-api-key": SECRET },
};
const asked = { kind: "availability", domain: "example.com" };

answersItsFixtures(porkbun, join(import.meta.dirname, "porkbun.fixtures"), {
  headers: { "content-type": "application/json" },
  signing,
});
tellsTheTruthAboutSubmission(porkbun, { port: "registrar", model: "porkbun-v3", call: asked, signing });
checksCredentials(porkbun, { path: "/ping", method: "POST", answer: { status: "SUCCESS" }, signing });

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

test.each<[string[], object]>([
  [["org", "com"], { kind: "pricing", tlds: [{ tld: "org" }, { tld: "com", firstYearMicros: 9_680_000 }] }],
  [[], { kind: "pricing", tlds: [{ tld: "com", transferMicros: null }, { tld: "org" }] }],
  [["com", "constructor"], { kind: "unsupported", tld: "constructor" }],
])("prices of %j are requested without a key", async (tlds, result) => {
  const pricing = {
    org: { registration: "6.88", renewal: "10.74", transfer: "10.74" },
    com: { registration: "9.68", renewal: "11.08", transfer: "n/a" },
  };
  vendor.answer({ json: { status: "SUCCESS", pricing } });
  const io = ioFor(porkbun, "porkbun-v3", "registrar", {
    baseUrl: vendor.url,
    credentials: signing.credentials,
  });
  expect(await porkbun.registrar?.submit({ kind: "pricing", tlds }, io)).toMatchObject({ result });
  expect(vendor.arrived).toMatchObject([{ method: "POST", path: "/pricing/get", body: "{}" }]);
  expect(JSON.stringify(vendor.arrived[0]?.headers)).not.toContain("key");
});
