import type { CacheTtl } from "./conversation";

/* List prices, as they are beside the models. */

/** The two ways a provider works on tokens: at once, or as it finds time, at a discount. */
export type Tier = "standard" | "flex";

export type ImageQuality = "low" | "medium" | "high" | "auto" | "standard";

/** One image of a size a vendor lists, by quality, in micros. */
export type ImageSizePrice = {
  width: number;
  height: number;
  micros: Partial<Record<ImageQuality, number>>;
};

/**
 * List price in whole micros of a US dollar. It is plain data: what a request or a usage costs is worked out by
 * server/domain/catalog/pricing/price.ts, from nothing but this.
 */
export type Price =
  | {
      per: "million_tokens";
      input: number;
      /** Absent: cached tokens cost as much as others. */
      cachedInput?: number;
      /** Rates of tokens that are written to a cache, by how long they stay there. Absent: the vendor states none, and no request asks for it. */
      cacheWrite?: Record<CacheTtl, number>;
      output: number;
      /** Only where the vendor prices reasoning apart; absent: reasoning is output like any other. */
      reasoning?: number;
      /** Discount of the flex tier on every token rate, in basis points; absent if the model has no such tier. */
      flexDiscountBps?: number;
    }
  | { per: "image"; sizes: ImageSizePrice[] }
  /** Video and music, by the length of what was made. */
  | { per: "second"; micros: number }
  /** Speech, by the length of what was read. */
  | { per: "million_characters"; micros: number }
  /** `texturedMicros`: with a texture; absent: no dearer than without. */
  | { per: "mesh"; micros: number; texturedMicros?: number }
  /** The same for every call; 0: the vendor asks nothing for it. */
  | { per: "request"; micros: number };
