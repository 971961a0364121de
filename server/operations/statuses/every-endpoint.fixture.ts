import { describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { addressLimit } from "@/server/api/rate-limit";
import { MANAGEMENT_SCOPES, SCOPES } from "@/server/contract/enums";
import type { Scope } from "@/server/domain/ctx";
import { type Call, call, makeKey, makeKeyWithId, revokeKey, sessionOf, type Tenant } from "@/testing/api";
import { spend } from "@/testing/limits";
import { isManaged, makeManagementKey } from "@/testing/management";
import { isOfItself } from "@/testing/rooms";
import { isOfVault } from "@/testing/vault";
import { endpoints } from "..";
import { ask, check, detailsOf } from "./ask.fixture";
import { good, nameOf, PARTS, type Part } from "./parts.fixture";
import { owner, tenant } from "./tenant.fixture";

export type Request = { method: string; target: string; body?: unknown };

/** The callers that the endpoints of a part serve. */
type House = {
  /** A request that succeeds, for each endpoint of the part. */
  sample(endpoint: Endpoint): Request;
  /** The tenant that the samples belong to, and an owner of its organization, if they are not the file's. */
  tenant?: () => Tenant;
  owner?: () => Call;
  /** Credentials of a page with an embed session. */
  page?: () => Call;
};

const isForKeys = (endpoint: Endpoint) =>
  (endpoint.auth.includes("service_principal") || endpoint.auth.includes("anonymous")) &&
  !isOfItself(endpoint.path) &&
  !isManaged(endpoint);
/** True if the endpoint creates a token, for which the caller also needs the rights that the token gets. */
const handsOutRights = ({ method, path }: Endpoint) =>
  method === "POST" && (path === "/v1/panel-sessions" || path.endsWith("/launch-codes"));
/** True if only embed sessions may call the endpoint. */
const isOfPages = ({ auth }: Endpoint) => auth.every((kind) => kind === "panel_session");

/** The tests that every endpoint of a part must pass: who is served, who is refused, and which requests are invalid. */
export function everyEndpoint(part: Part, house: House): void {
  const { sample } = house;
  const home = () => house.tenant?.() ?? tenant;
  /** The credentials of a permitted caller: a key, or an owner's session for endpoints that only people may call. */
  const as = (endpoint: Endpoint, sent: Call = {}): Call => {
    if (!isOfPages(endpoint) && isForKeys(endpoint)) return { key: home().key, ...sent };
    const person = (isOfPages(endpoint) ? house.page?.() : house.owner?.()) ?? owner;
    return { ...person, ...sent, headers: { ...person.headers, ...sent.headers } };
  };

  describe("every endpoint", () => {
    for (const endpoint of endpoints.filter((each) => PARTS[part].includes(each))) {
      const name = nameOf(endpoint);
      const isOpen = endpoint.auth.includes("anonymous");
      const hasBody = endpoint.body !== undefined;

      test(`${name}: ${good(endpoint)} to ${isForKeys(endpoint) ? "a key of the project" : isOfPages(endpoint) ? "an embed's page" : "a person"}${isOpen ? ", and to anyone" : ""}`, async () => {
        const { method, target, body } = sample(endpoint);
        await ask(good(endpoint), method, target, as(endpoint, { body }));
        if (isOpen) await ask(good(endpoint), method, target, body ? { body } : {});
      });

      test(`${name}: 401 to ${isOpen ? "" : "no key, and to "}a key that is malformed, unknown, expired or revoked`, async () => {
        const { method, target, body } = sample(endpoint);
        const { projectId } = home();
        const expired = await makeKey({ projectId, expiresInSeconds: 1, agedMs: 10_000 });
        const { apiKey: revoked, keyId } = await makeKeyWithId({ projectId });
        await revokeKey(keyId);
        const { key: own } = home();
        const known = own.slice(0, -1) + (own.endsWith("0") ? "1" : "0");
        const keys = [expired, revoked, known, "cap_development_nothing", "x".repeat(5_000)];
        for (const key of isOpen ? keys : [undefined, ...keys]) {
          const refused = await ask([401, "AuthenticationFailed"], method, target, {
            ...(key ? { key } : {}),
            body,
          });
          expect(refused.headers["www-authenticate"]).toMatch(/^Bearer/);
        }
        const basic = { authorization: `Basic ${Buffer.from("a:b").toString("base64")}` };
        await ask([401, "AuthenticationFailed"], method, target, { body, headers: basic });
      });

      test(`${name}: 429 for an address with too many wrong keys, until its bucket fills`, async () => {
        const { method, target, body } = sample(endpoint);
        const options = { key: "cap_development_guess", body, address: "203.0.113.9" };
        spend(addressLimit, options.address);
        const refused = await call(method, target, options);
        check(refused, [429, "RateLimited"], method, target);
        // A known key is still served at that address.
        if (isForKeys(endpoint))
          await ask(good(endpoint), method, target, as(endpoint, { body, address: "203.0.113.9" }));
      });

      if (isOfItself(endpoint.path)) {
        test(`${name}: 200 to the key itself, whatever its scopes, and 404 to another key`, async () => {
          const { apiKey, keyId } = await makeKeyWithId({
            projectId: home().projectId,
            scopes: ["jobs:read"],
          });
          const target = endpoint.path.replace("{key_id}", keyId);
          await ask([404, "NotFound"], endpoint.method, target, { key: home().unboundKey });
          await ask(200, endpoint.method, target, { key: apiKey });
          await ask([401, "AuthenticationFailed"], endpoint.method, target, { key: apiKey });
        });
      } else if (!isForKeys(endpoint)) {
        test(`${name}: 403 to a key, whatever its scopes`, async () => {
          const { method, target, body } = sample(endpoint);
          await ask([403, "AuthorizationFailed"], method, target, { key: home().unboundKey, body });
          if (!isManaged(endpoint)) return;
          const { organizationId, projectId } = home();
          const { apiKey } = await makeManagementKey({
            organizationId,
            projectIds: [projectId],
            scopes: MANAGEMENT_SCOPES.filter((scope) => scope !== endpoint.scope),
          });
          await ask([403, "AuthorizationFailed"], method, target, { key: apiKey, body });
        });
      } else if (!isOpen) {
        test(`${name}: 403 to a key without the scope ${endpoint.scope}`, async () => {
          const { method, target, body } = sample(endpoint);
          expect(endpoint.scope).toBeDefined();
          const { projectId } = home();
          const poor = await makeKey({
            projectId,
            scopes: SCOPES.filter((scope) => scope !== endpoint.scope),
          });
          const refused = await ask([403, "AuthorizationFailed"], method, target, { key: poor, body });
          expect(detailsOf(refused)).toEqual({ scope: endpoint.scope });
          // A caller must hold the rights that it hands out.
          const given: Scope[] = handsOutRights(endpoint) ? ["jobs:read", "jobs:write"] : [];
          const rich = await makeKey({ projectId, scopes: endpoint.scope ? [endpoint.scope, ...given] : [] });
          // `GET /v1/jobs` lists the key's own jobs; all other endpoints work on the project.
          await ask(good(endpoint), method, target, { key: rich, body });
        });
      }

      if (!isOpen) {
        test(`${name}: a signed-in person is ${endpoint.auth.includes("human_session") ? "served" : "refused with 403"}`, async () => {
          const { method, target, body } = sample(endpoint);
          const needsMore = !isForKeys(endpoint) || endpoint.scope === "credentials:write";
          const cookie = await sessionOf(home().organizationId, needsMore ? "owner" : "member");
          const own = { cookie, origin: "http://localhost:3000" };
          const sent = { body, headers: own };
          const isServed = endpoint.auth.includes("human_session");
          const named =
            isServed &&
            method === "POST" &&
            isForKeys(endpoint) &&
            !isOfVault(endpoint) &&
            !target.includes("projectId=")
              ? `${target}?projectId=${home().projectId}`
              : target;
          await ask(isServed ? good(endpoint) : [403, "AuthorizationFailed"], method, named, sent);
          if (method === "GET") return;
          const elsewhere = { ...own, origin: "https://elsewhere.test" };
          await ask([403, "CrossSiteRequest"], method, named, { ...sent, headers: elsewhere });
        });
      }

      if (endpoint.params) {
        test(`${name}: 422 for a path that no id can have, 404 for one that is longer than any id`, async () => {
          const { method, target, body } = sample(endpoint);
          const places = [...endpoint.path.split("/").entries()].filter(([, part]) => part.startsWith("{"));
          const at = (place: number, part: string) => target.split("/").with(place, part).join("/");
          for (const [place] of places) {
            const { json } = await ask([422, "list"], method, at(place, "%00"), as(endpoint, { body }));
            if (!endpoint.refusals) expect(json.detail[0].loc[0]).toBe("path");
            await ask(404, method, at(place, "x".repeat(5_000)), as(endpoint, { body }));
          }
        });
      }

      if (hasBody) {
        test(`${name}: 413, 415 and 422 for bodies that are too large, not JSON, or hostile`, async () => {
          const { method, target } = sample(endpoint);
          const huge = Buffer.alloc((endpoint.bodyLimit ?? 1024 * 1024) + 1, 32);
          const tooLarge = await ask([413, "PayloadTooLarge"], method, target, as(endpoint, { body: huge }));
          expect(detailsOf(tooLarge)).toEqual({ maxBytes: huge.byteLength - 1 });
          const lying = { body: huge, headers: { "content-length": "10" } };
          await ask([413, "PayloadTooLarge"], method, target, as(endpoint, lying));
          const plain = { body: "{}", headers: { "content-type": "text/plain" } };
          await ask([415, "UnsupportedMediaType"], method, target, as(endpoint, plain));
          const hostile = ["{", "[]", '"x"', '{"a":1,"a":2}', '{"a":"\\ud800"}', '{"a":"\\u0000"}'];
          const deep = `${'{"a":'.repeat(65)}1${"}".repeat(65)}`;
          for (const body of [...hostile, deep, Buffer.from([0x7b, 0xff, 0x7d])]) {
            const { json } = await ask([422, "list"], method, target, as(endpoint, { body }));
            if (!endpoint.refusals) expect(json.detail[0].loc[0]).toBe("body");
          }
          if (!endpoint.body?.safeParse(undefined).success)
            await ask([422, "list"], method, target, as(endpoint));
        });
      }
    }
  });
}
