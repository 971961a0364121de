import { createRequire } from "node:module";
import { Pool } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postJson } from "./http";
import { startVendor, type Vendor } from "./testing/vendor";

/* The HTTP client that ours is built on has timeouts of its own, and gives up after five minutes by default. */

/** The client's own clock, which its own tests advance as well. */
const { tick } = createRequire(import.meta.url)("undici/lib/util/timers.js") as {
  tick(ms: number): void;
};
/** Ticks once a second, because the clock starts a timer at one tick and can end it only at a later one. */
const pass = (seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 1) tick(1_000);
};

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

test("the default client times out after five minutes", async () => {
  vendor.answer("silent");
  const pool = new Pool(vendor.url);
  const waiting = pool.request({ path: "/", method: "POST", body: "{}" });
  const failed = expect(waiting).rejects.toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
  await expect.poll(() => vendor.arrived.length, { timeout: 10_000 }).toBe(1);
  pass(305);
  await failed;
  await pool.destroy();
});

test("our client waits until its caller aborts, both for the first byte and between bytes", async () => {
  for (const script of ["silent", "begun"] as const) {
    vendor.answer(script);
    const stop = new AbortController();
    const io = { baseUrl: vendor.url, credentials: {}, signal: stop.signal, allowPrivateAddresses: true };
    const settled: string[] = [];
    const waiting = postJson(io, "/", { body: {}, headers: {} }).then(
      () => settled.push("answered"),
      (fault) => settled.push(fault.kind),
    );
    await expect.poll(() => vendor.arrived.length, { timeout: 10_000 }).toBe(1);
    await new Promise((passed) => setTimeout(passed, 20)); // lets the vendor's bytes arrive
    pass(900);
    await new Promise((passed) => setTimeout(passed, 20));
    expect([script, settled]).toEqual([script, []]);
    stop.abort();
    await waiting;
    expect(settled).toEqual(["lost"]);
  }
});
