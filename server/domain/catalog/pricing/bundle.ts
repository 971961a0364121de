import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { plainJson } from "@/server/platform/text/json";
import { providers } from "@/server/providers/registry.gen";
import { PRICING_VERSION } from "./pricing";

let made: { version: string; hash: string } | undefined;

/** Returns the name and hash of this build's routes and prices. Receipts show which ones applied. */
export function routeBundle(): { version: string; hash: string } {
  if (!made) {
    const routes = providers.map((provider) => ({
      provider: provider.name,
      apis: Object.fromEntries(provider.models.map(({ port }) => [port, provider[port]?.api])),
      models: provider.models,
    }));
    // Facts of models are plain data, and undefined members are left out.
    made = { version: PRICING_VERSION, hash: sha256Hex(canonicalText(plainJson(routes))) };
  }
  return made;
}
