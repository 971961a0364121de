import type { ModelSource } from "./define";

/** Words before a colon that are not a provider's name. */
const SCHEMES = new Set([
  "http",
  "https",
  "hf",
  "huggingface",
  "ftp",
  "file",
  "data",
  "javascript",
  "mailto",
]);

/** A provider's own reference to weights that it stores: `replicate:owner/model`. Only its form can be checked. */
export const providerRef: ModelSource = {
  kind: "provider_ref",
  read(query) {
    const [, provider = "", ref = ""] =
      /^([a-z][a-z0-9-]{1,39}):([\x21-\x7e]{1,2000})$/.exec(query.trim()) ?? [];
    if (!ref || SCHEMES.has(provider) || ref.startsWith("//")) return null;
    return { kind: "provider_ref", ref, revision: null, filePath: null, provider };
  },
  freeze: async (source) => ({ source, isFrozen: false, sha256: null, byteLength: null, url: null }),
  health: async () => ({ status: "unknown", detail: "Only the provider can check this reference." }),
};
