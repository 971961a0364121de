/* Request members that a customer's server can receive, and their effect on the price. */

/**
 * Members that change the price in a way that no token bound covers: a dearer tier, model or provider, fees per use,
 * cache writes, or output beyond its limit. A server receives them if its owner lists them, except when a limit that is
 * set to prevent applies.
 */
const BEYOND_BOUNDS: ReadonlySet<string> = new Set([
  // Tiers, regions, models and providers with prices of their own.
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
  // The server's own searches, tools and plugins, billed per use.
  ...["web_search_options", "web_search", "search_parameters", "search_settings", "enable_search", "plugins"],
  ...["mcp_servers", "container", "compound_custom"],
  // Cache writes, and members that contain other members.
  ...["cache_control", "cached_content", "extra_body", "options"],
  // Output that the output limit does not count.
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

/**
 * Can this member make a request cost more than its price bound? Any other member only counts as part of the prompt.
 */
export const isBeyondBounds = (name: string): boolean => BEYOND_BOUNDS.has(name.toLowerCase());
