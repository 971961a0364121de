import { describe, expect, test } from "vitest";
import type { Endpoint } from "@/server/api/endpoint";
import { addressLimit } from "@/server/api/rate-limit";
import { MANAGEMENT_SCOPES } from "@/server/contract/enums";
import { SCOPES, type Scope } from "@/server/domain/ctx";
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

/** Whom the endpoints of a part serve. */
type House = {
  /** A request that succeeds, for each of its endpoints. */
  sample(endpoint: Endpoint): Request;
  /** Whose the things of the samples are, and an owner of its organization, where they are not the file's. */
  tenant?: () => Tenant;
  owner?: () => Call;
  /** A page with a panel session. */
  page?: () => Call;
};

const isForKeys = (endpoint: Endpoint) =>
  (endpoint.auth.includes("service_principal") || endpoint.auth.includes("anonymous")) &&
  !isOfItself(endpoint.path) &&
  !isManaged(endpoint);
/** Does it make a token that may do what it names, and more? */
const handsOutRights = ({ method, path }: Endpoint) =>
  method === "POST" && (path === "/v1/panel-sessions" || path.endsWith("/launch-codes"));
/** Is it of panel sessions alone? */
const isOfPages = ({ auth }: Endpoint) => auth.every((kind) => kind === "panel_session");

/** What every endpoint of a part promises alike: whom it serves, whom it refuses, and which requests cannot be. */
export function everyEndpoint(part: Part, house: House): void {
  const { sample } = house;
  const home = () => house.tenant?.() ?? tenant;
  /** The credentials of somebody who may: a key, or where people only may ask, the session of an owner. */
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

      test(`${name}: ${good(endpoint)} to ${isForKeys(endpoint) ? "a key of the project" : isOfPages(endpoint) ? "a panel's page" : "a person"}${isOpen ? ", and to no one in particular" : ""}`, async () => {
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

      test(`${name}: 429 when an address has guessed too often, until its bucket fills`, async () => {
        const { method, target, body } = sample(endpoint);
        const options = { key: "cap_development_guess", body, address: "203.0.113.9" };
        spend(addressLimit, options.address);
        const refused = await call(method, target, options);
        check(refused, [429, "RateLimited"], method, target);
        // A key that is known stays welcome at that address.
        if (isForKeys(endpoint))
          await ask(good(endpoint), method, target, as(endpoint, { body, address: "203.0.113.9" }));
      });

      if (isOfItself(endpoint.path)) {
        test(`${name}: 200 to the key itself, whatever it may do, and 404 to another`, async () => {
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
        test(`${name}: 403 to a key, whatever it may do`, async () => {
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
          // No one hands out what they do not hold.
          const given: Scope[] = handsOutRights(endpoint) ? ["jobs:read", "jobs:write"] : [];
          const rich = await makeKey({ projectId, scopes: endpoint.scope ? [endpoint.scope, ...given] : [] });
          // `GET /v1/jobs` is of the key itself; everything else is the project's.
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
        test(`${name}: 422 for a path no id can be, 404 for one that is longer than any`, async () => {
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
        test(`${name}: 413, 415 and 422 for bodies that are too large, not JSON, or not to be trusted`, async () => {
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
