import { expect, test } from "vitest";
import { Fault } from "@/server/platform/errors/errors";
import { spend } from "@/testing/limits";
import { countRequest, embedsLimit, keyLimit, limiter, places } from "./rate-limit";

function clock() {
  let ms = 0;
  const pass = (by: number) => {
    ms += by;
  };
  return { nowMs: () => ms, pass };
}

function faultOf(work: () => void): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  throw new Error("nothing was refused");
}

test("a burst is a third of the limit per minute, then requests are allowed at the limit's rate", () => {
  const { nowMs, pass } = clock();
  const limit = limiter(60, { nowMs });
  for (let n = 0; n < 20; n++) limit.take("k", {});
  const fault = faultOf(() => limit.take("k", {}));
  expect(fault.code).toBe("RateLimited");
  expect(fault.details.retryAfterSeconds).toBe(1);
  pass(1_000);
  limit.take("k", {});
  expect(() => limit.take("k", {})).toThrow();
  pass(60_000);
  for (let n = 0; n < 20; n++) limit.take("k", {});
  expect(() => limit.take("k", {})).toThrow();
});

test("the standing has the remaining requests and the reset of the headers, and reading it takes no token", () => {
  const limit = limiter(60, clock());
  expect(limit.standing("k")).toEqual({ perMinute: 60, burst: 20, remaining: 20, resetSeconds: 0 });
  const headers: Record<string, string> = {};
  for (let n = 0; n < 5; n++) limit.take("k", headers);
  const left = { perMinute: 60, burst: 20, remaining: 15, resetSeconds: 5 };
  expect([limit.standing("k"), limit.standing("k")]).toEqual([left, left]);
  expect(headers).toMatchObject({ "ratelimit-remaining": "15", "ratelimit-reset": "5" });
});

test("the error and RateLimit-Policy state the burst and the rate that this process really allows", () => {
  const clockOf = clock();
  let processes = 1;
  const limit = limiter(6_000, { ...clockOf, share: () => 1 / processes });
  const headers: Record<string, string> = {};
  for (let n = 0; n < 2_000; n++) limit.take("k", headers);
  expect(headers["ratelimit-policy"]).toBe("6000;w=60;burst=2000");
  expect(faultOf(() => limit.take("k", {})).message).toBe(
    "Too many requests: the limit is 6000 per minute, with a burst of 2000. Retry after 1 s.",
  );
  processes = 7;
  clockOf.pass(60_000);
  for (let n = 0; n < 285; n++) limit.take("k", headers);
  expect(headers["ratelimit-policy"]).toBe("857;w=60;burst=285");
  expect(faultOf(() => limit.take("k", headers)).message).toContain(
    "the limit is 857 per minute, with a burst of 285.",
  );
  expect(headers["ratelimit-limit"]).toBe("6000");
});

test("every response, refused ones too, has the limit, the remaining requests and the time until the bucket is full", () => {
  const { nowMs } = clock();
  const limit = limiter(6, { nowMs });
  const headers: Record<string, string> = {};
  limit.take("k", headers);
  const policy = { "ratelimit-limit": "6", "ratelimit-policy": "6;w=60;burst=2" };
  expect(headers).toEqual({ ...policy, "ratelimit-remaining": "1", "ratelimit-reset": "10" });
  limit.take("k", headers);
  const refused: Record<string, string> = {};
  const fault = faultOf(() => limit.take("k", refused));
  expect(refused).toEqual({ ...policy, "ratelimit-remaining": "0", "ratelimit-reset": "20" });
  expect(fault.details.retryAfterSeconds).toBe(10);
});

test("callers do not share a bucket", () => {
  const limit = limiter(3, clock());
  limit.take("a", {});
  expect(limit.isSpent("a")).toBe(true);
  expect(limit.isSpent("b")).toBe(false);
  limit.take("b", {});
});

test("processes share the limit: each grants its part", () => {
  let processes = 1;
  const { nowMs, pass } = clock();
  const limit = limiter(120, { nowMs, share: () => 1 / processes });
  processes = 4;
  for (let n = 0; n < 10; n++) limit.take("k", {});
  expect(() => limit.take("k", {})).toThrow();
  pass(2_000); // at 30 a minute, one more is allowed
  limit.take("k", {});
  expect(() => limit.take("k", {})).toThrow();
});

test("all embed sessions of a project share ten keys' requests, and one session has a key's, without taking from the others", () => {
  const ask = (id: string, projectId = "prj_1") => {
    const headers: Record<string, string> = {};
    const refused = (() => {
      try {
        countRequest({ kind: "panel_session", id, projectId }, "192.0.2.1", headers);
        return false;
      } catch {
        return true;
      }
    })();
    return { refused, limit: Number(headers["ratelimit-limit"]) };
  };
  const { limit } = ask("pses_1");
  for (let n = 0; n < limit * 4; n++) ask("pses_1"); // far more than all sessions together may send
  spend(keyLimit, "pses_1");
  expect(ask("pses_1")).toEqual({ refused: true, limit });
  expect(ask("pses_2")).toEqual({ refused: false, limit });
  spend(embedsLimit, "prj_1");
  expect(ask("pses_3")).toEqual({ refused: true, limit: limit * 10 });
  expect(ask("pses_3", "prj_2")).toEqual({ refused: false, limit });
});

test("places are taken and freed once, per caller, and shared by the processes", () => {
  let processes = 1;
  const waits = places(2, "waits", { share: () => 1 / processes });
  const [first, second] = [waits.take("a"), waits.take("a")];
  expect(faultOf(() => waits.take("a"))).toMatchObject({
    code: "RateLimited",
    details: { retryAfterSeconds: 5 },
  });
  waits.take("b");
  first();
  first();
  const third = waits.take("a");
  expect(() => waits.take("a")).toThrow("At most 2 waits");
  for (const leave of [second, third]) leave();
  processes = 2;
  waits.take("a");
  expect(() => waits.take("a")).toThrow();
  processes = 8;
  waits.take("c"); // one place is always left
});
