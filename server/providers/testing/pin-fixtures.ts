import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type PinCall, pinSettings, sendPin } from "../pins";
import type { Provider } from "../provider";
import type { Signing } from "./fixtures";
import { caughtFault, everythingOf, ioFor, pinApi, startVendor, type Vendor } from "./vendor";

/*
 * Fixtures of pins, in the folder `pins` of a provider's fixtures: a call, the complete body for it, the settings
 * within that body, a vendor's answer, and its reading.
 */

const PinFixture = z.object({
  title: z.string(),
  api: z.string(),
  model: z.string(),
  tier: z.enum(["standard", "flex"]).default("standard"),
  call: z.json(),
  sent: z.object({ path: z.string(), body: z.record(z.string(), z.json()) }),
  settings: z.json(),
  answer: z.object({
    headers: z.record(z.string(), z.string()).optional(),
    json: z.record(z.string(), z.json()),
  }),
  /** The reading without status and native response. */
  read: z.record(z.string(), z.json()),
});
export type PinFixture = z.output<typeof PinFixture>;

export function readPinFixtures(folder: string): PinFixture[] {
  const path = join(folder, "pins");
  const files = existsSync(path) ? readdirSync(path).filter((file) => file.endsWith(".json")) : [];
  return files.map((file) => PinFixture.parse(JSON.parse(readFileSync(join(path, file), "utf8"))));
}

/**
 * Plays the fixtures. The bytes sent must be the caller's own, and an answer that lacks evidence or contains a key must
 * fail.
 */
export function answersItsPinFixtures(provider: Provider, fixtures: PinFixture[], signing: Signing): void {
  const [secret = ""] = Object.values(signing.credentials);
  describe(`${provider.name} answers the fixtures of its pins`, () => {
    let vendor: Vendor;
    beforeAll(async () => {
      vendor = await startVendor();
    });
    afterAll(() => vendor.stop());

    test.each(fixtures.map((each) => [`${each.api}: ${each.title}`, each] as const))(
      "%s",
      async (_, each) => {
        const api = pinApi(provider, each.api);
        const { credentials } = signing;
        const io = ioFor(provider, each.model, "text", { baseUrl: vendor.url, credentials, tier: each.tier });
        const body = api.body(each.call as PinCall, io.model, io.tier); // fixtures have the shape of a pin
        expect(body).toEqual(each.sent.body);
        expect(pinSettings(api, body)).toEqual(each.settings);

        const bytes = Buffer.from(JSON.stringify(body));
        const { json, ...answer } = each.answer;
        vendor.answer({ ...answer, json });
        const { status, nativeResponse, ...read } = await sendPin(api, bytes, io);
        expect(read).toEqual(each.read);
        expect([status, nativeResponse]).toEqual([200, json]);
        const [arrived, ...more] = vendor.arrived;
        expect(more).toEqual([]);
        expect(arrived).toMatchObject({ method: "POST", path: each.sent.path });
        expect(arrived?.headers["content-type"]).toBe("application/json");
        expect(Buffer.from(arrived?.bytes ?? []).equals(bytes)).toBe(true);
        expect(arrived?.path).not.toContain(secret);

        for (const member of ["usage", "usageMetadata", "model", "modelVersion"].filter(
          (name) => name in json,
        )) {
          const { [member]: _left, ...less } = json;
          vendor.answer({ ...answer, json: less });
          const fault = await caughtFault(sendPin(api, bytes, io));
          expect([member, fault.kind, fault.submission]).toEqual([member, "failed", "attempted"]);
        }
        vendor.answer({ ...answer, json: { ...json, note: `as received: ${secret}` } });
        const fault = await caughtFault(sendPin(api, bytes, io));
        expect([fault.kind, fault.submission]).toEqual(["failed", "attempted"]);
        expect(fault.details.usage).toEqual(each.read.usage);
        expect(everythingOf(fault)).not.toContain(secret.slice(0, 12));
      },
    );
  });
}
