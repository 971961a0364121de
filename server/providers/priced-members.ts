/* Members of a request that a server may be passed, and what they do to its price. */

/**
 * Members that change what a request costs in a way which no bound of tokens covers: a dearer tier, model or provider, fees for
 * each use, cache writes, or output beyond its limit. A server may be passed them if its owner lists them, but not where a limit
 * has to hold the price.
 */
const BEYOND_BOUNDS: ReadonlySet<string> = new Set([
  // Tiers, places, models and providers that have prices of their own.
  ...[
    "service_tier",
    "speed",
    "inference_geo",
    "models",
    "route",
    "provider",
    "fallbacks",
    "fallback_models",
  ],
  // Searches, tools and plugins of the server, which it bills by their use.
  ...["web_search_options", "web_search", "search_parameters", "search_settings", "enable_search", "plugins"],
  ...["mcp_servers", "container", "compound_custom"],
  // Cache writes, and members that hold others.
  ...["cache_control", "cached_content", "extra_body", "options"],
  // Output that the limit of output does not count.
  ...["prediction", "audio", "modalities", "best_of", "num_return_sequences", "use_beam_search"],
  ...[
    "num_predict",
    "n_predict",
    "max_new_tokens",
    "max_output_tokens",
    "max_tokens",
    "max_completion_tokens",
  ],
]);

/** Can this member make a request dearer than the bound of its price? All others only count as part of the prompt. */
export const isBeyondBounds = (name: string): boolean => BEYOND_BOUNDS.has(name.toLowerCase());
