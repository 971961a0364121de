import fc from "fast-check";
import { expect, test } from "vitest";
import openai from "@/server/providers/openai";
import sandbox from "@/server/providers/sandbox";
import { priceOf } from "./price";

const models = [...openai.models, ...sandbox.models].filter(({ port }) => port === "image");

test.each(models.map((model) => [model.id, model.price] as const))(
  "an image of %s never costs less for being larger, and never less than is listed",
  (_id, price) => {
    const pixels = fc.integer({ min: 655_360, max: 8_294_400 });
    fc.assert(
      fc.property(pixels, pixels, fc.constantFrom("low", "medium", "high", "auto"), (one, other, quality) => {
        const of = (size: number) => priceOf(price, { images: 1 }, { quality, pixels: size }) ?? 0;
        const [smaller, larger] = [Math.min(one, other), Math.max(one, other)];
        expect(of(larger)).toBeGreaterThanOrEqual(of(smaller));
        expect(of(smaller)).toBeGreaterThanOrEqual(priceOf(price, { images: 1 }, { quality }) ?? 0);
        if (price.per === "image") {
          // By area above the size the list is of, within a micro.
          const listed = priceOf(price, { images: 1 }, { quality }) ?? 0;
          const proportional = (listed * larger) / price.pixels;
          expect(of(larger)).toBeGreaterThanOrEqual(Math.max(listed, Math.floor(proportional)));
          expect(of(larger)).toBeLessThanOrEqual(Math.max(listed, proportional + 1));
        }
      }),
    );
  },
);

test("as many images as were drawn are priced", () => {
  const price = { per: "image", micros: { low: 10 }, default: 40, pixels: 100 } as const;
  expect(priceOf(price, { images: 3 }, { quality: "low", pixels: 250 })).toBe(75);
  expect(priceOf(price, { images: 0 }, { quality: "low" })).toBe(0);
  expect(priceOf(price, {}, { quality: "low" })).toBeNull();
});
