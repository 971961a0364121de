import type { CacheTtl } from "./conversation";

/* List prices, as declared beside the models. */

/** Processing tiers for tokens: immediately, or with a delay at a discount. */
export type Tier = "standard" | "flex";

export type ImageQuality = "low" | "medium" | "high" | "auto" | "standard";

/** The price of one image of a listed size, by quality, in micros. */
export type ImageSizePrice = {
  width: number;
  height: number;
  micros: Partial<Record<ImageQuality, number>>;
};

/**
 * List price in whole micros of a US dollar, as plain data. server/domain/catalog/pricing/price.ts computes the cost of
 * a request or a usage from it.
 */
export type Price =
  | {
      per: "million_tokens";
      input: number;
      /** Absent if cached tokens cost the same as other input. */
      cachedInput?: number;
      /**
       * Rates of tokens written to the cache, by their lifetime there. Absent if the vendor states none; requests then
       * contain no cache marks.
       */
      cacheWrite?: Record<CacheTtl, number>;
      output: number;
      /** Absent if reasoning is priced as output. */
      reasoning?: number;
      /** Discount of the flex tier on every token rate, in basis points; absent if the model has no such tier. */
      flexDiscountBps?: number;
    }
  | { per: "image"; sizes: ImageSizePrice[] }
  /** Video and music, by the length of the output. */
  | { per: "second"; micros: number }
  /** Speech, by the length of the input. */
  | { per: "million_characters"; micros: number }
  /** `texturedMicros` is the price with a texture; absent if it is the same. */
  | { per: "mesh"; micros: number; texturedMicros?: number }
  /** A fixed price per call; 0 if the vendor charges nothing. */
  | { per: "request"; micros: number };
