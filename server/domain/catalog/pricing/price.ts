import type { Micros } from "@/server/platform/money";
import type { ImageSizePrice, Price, Tier, Usage } from "@/server/providers/define";

/*
 * This module prices usage at list prices, in whole numbers of any size. Each call is rounded once, at the end,
 * up to a whole micro. The service fee is the only other rounding: once, half up, on the total of the calls.
 */

const TOKENS = 1_000_000n;
const ALL_BPS = 10_000n;

/** The terms that a price depends on besides the usage. */
export type PriceTerms = {
  tier?: Tier;
  /** The quality of an image, as it was requested. */
  quality?: string;
  width?: number;
  height?: number;
  /** Applies to a mesh. */
  textured?: boolean;
};

/**
 * Returns the price of this usage at a list price, in micros. Returns null if the price is unknown or the usage does
 * not suffice to compute it.
 */
export function priceOf(price: Price, usage: Usage, terms: PriceTerms = {}): Micros | null {
  if (terms.tier === "flex" && price.per !== "million_tokens") return null;
  switch (price.per) {
    case "million_tokens":
      return priceOfTokens(price, usage, terms.tier ?? "standard");
    case "image":
      return priceOfImages(price.sizes, usage.images, terms);
    case "second":
      return perUnit(usage.durationMs, price.micros, 1_000n);
    case "million_characters":
      return perUnit(usage.characters, price.micros, 1_000_000n);
    case "mesh":
      return perUnit(usage.meshes, (terms.textured ? price.texturedMicros : undefined) ?? price.micros, 1n);
    case "request":
      return perUnit(usage.requests, price.micros, 1n);
  }
}

/**
 * Returns the highest price of work inside these bounds, in micros. Any part of the input may turn out to be cached or
 * written to a cache for either time, and any part of the output to be reasoning, so the dearest combination counts.
 */
export function priceAtMost(price: Price, bounds: Usage, terms: PriceTerms = {}): Micros | null {
  const { inputTokens, outputTokens } = bounds;
  if (price.per !== "million_tokens" || inputTokens === undefined || outputTokens === undefined)
    return priceOf(price, bounds, terms);
  const inputs: Usage[] = [
    { cachedInputTokens: 0 },
    { cachedInputTokens: inputTokens },
    ...(bounds.cacheWriteTokens === undefined ? [] : writesOf(bounds.cacheWriteTokens)),
  ];
  const corners = inputs.flatMap((input) =>
    [0, outputTokens].map((reasoningTokens) =>
      priceOf(price, { inputTokens, ...input, outputTokens, reasoningTokens }, terms),
    ),
  );
  return corners.reduce((most, each) => (most === null || each === null ? null : Math.max(most, each)));
}

const writesOf = (cacheWriteTokens: number): Usage[] => [
  { cacheWriteTokens },
  { cacheWriteTokens, cacheWriteHourTokens: cacheWriteTokens },
];

/** True if this is the vendor's listed price, and not our bound for an unlisted one. */
export function hasListedPrice(price: Price, { quality, width, height }: PriceTerms): boolean {
  if (price.per !== "image") return true;
  const size = price.sizes.find((each) => each.width === width && each.height === height);
  return size !== undefined && quality !== undefined && quality in size.micros;
}

function priceOfTokens(
  price: Extract<Price, { per: "million_tokens" }>,
  usage: Usage,
  tier: Tier,
): Micros | null {
  const discount = tier === "flex" ? price.flexDiscountBps : 0;
  const {
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: cached = 0,
    cacheWriteTokens = 0,
    cacheWriteHourTokens = 0,
    reasoningTokens = 0,
  } = usage;
  if (discount === undefined || !isCount(input) || !isCount(output)) return null;
  if (![cached, cacheWriteTokens, cacheWriteHourTokens, reasoningTokens].every(isCount)) return null;
  // Cached tokens are part of the input and reasoning is part of the output, so neither may exceed the whole.
  const cheap = Math.min(cached, input);
  const written = Math.min(cacheWriteTokens, input - cheap);
  const forAnHour = Math.min(cacheWriteHourTokens, written);
  const { cacheWrite = { "5m": price.input, "1h": price.input } } = price;
  const thought = Math.min(reasoningTokens, output);
  const atList =
    times(input - cheap - written, price.input) +
    times(written - forAnHour, cacheWrite["5m"]) +
    times(forAnHour, cacheWrite["1h"]) +
    times(cheap, price.cachedInput ?? price.input) +
    times(output - thought, price.output) +
    times(thought, price.reasoning ?? price.output);
  return toMicros(atList * (ALL_BPS - BigInt(discount)), TOKENS * ALL_BPS);
}

/**
 * Prices images of one size and quality, in micros. An unlisted size is priced by area like the dearest listed one, and
 * never below any listed one. An unlisted quality, or one left to the model, is priced as the dearest.
 */
function priceOfImages(
  sizes: ImageSizePrice[],
  images: number | undefined,
  terms: PriceTerms,
): Micros | null {
  if (!isCount(images)) return null;
  const { width, height, quality } = terms;
  const listed = sizes.find((size) => size.width === width && size.height === height);
  if (listed) return toMicros(times(images, dearest(listed, quality)), 1n);
  const pixels = (width ?? 0) * (height ?? 0);
  return sizes
    .map((size) => {
      const area = size.width * size.height;
      const ofAll = times(images, dearest(size, quality));
      return toMicros(ofAll * BigInt(Math.max(pixels, area)), BigInt(area));
    })
    .reduce<Micros | null>((most, each) => Math.max(most ?? 0, each), null);
}

function dearest({ micros }: ImageSizePrice, quality: string | undefined): Micros {
  const listed: Partial<Record<string, Micros>> = micros;
  return (quality ? listed[quality] : undefined) ?? Math.max(...Object.values(micros));
}

function perUnit(amount: number | undefined, micros: Micros, unit: bigint): Micros | null {
  return isCount(amount) ? toMicros(times(amount, micros), unit) : null;
}

/** Vendors report usage, so a value that is no valid count is not used as one. */
const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0;

const times = (count: number, micros: Micros): bigint => BigInt(count) * BigInt(micros);

/** Rounds up to a whole micro. */
const toMicros = (numerator: bigint, denominator: bigint): Micros =>
  Number((numerator + denominator - 1n) / denominator);

/** Returns the service fee on an upstream amount, in micros: basis points of the total, rounded half up once. */
export function serviceFee(upstreamMicros: Micros, bps: number): Micros {
  return Number((BigInt(upstreamMicros) * BigInt(bps) + ALL_BPS / 2n) / ALL_BPS);
}
