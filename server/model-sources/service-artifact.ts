import type { ModelSource } from "./define";

/** Weights that are stored here, named by their artifact's id. The domain checks ownership and content. */
export const serviceArtifact: ModelSource = {
  kind: "service_artifact",
  read(query) {
    const ref = query.trim();
    if (!/^art_[0-9a-hjkmnp-tv-z]{26}$/.test(ref)) return null;
    return { kind: "service_artifact", ref, revision: null, filePath: null, provider: null };
  },
};
