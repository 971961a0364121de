import type { FetchRules } from "@/server/platform/http";

export type SourceKind = "service_artifact" | "huggingface" | "provider_ref";

/** What names LoRA weights, as far as its text says: nothing has been looked at. */
export type SourceRef = {
  kind: SourceKind;
  /** An artifact's id, `owner/name`, a direct https link, or the provider's own reference. */
  ref: string;
  /** A branch, a tag or a commit; null: whatever is there now. */
  revision: string | null;
  filePath: string | null;
  /** Whose reference it is. */
  provider: string | null;
};

export type WeightsFile = {
  path: string;
  byteLength: number | null;
  /** Lower-case hex; null where the source does not tell. */
  sha256: string | null;
};

/** What a source tells about weights, without a byte of a tensor read. */
export type SourcePreview = {
  /** By the name the source itself uses now. */
  source: SourceRef;
  /** The commit; null where the source has no such. */
  revision: string | null;
  files: WeightsFile[];
  /** Null when several could be meant. */
  selectedFile: string | null;
  baseModelFamily: string | null;
  displayName: string | null;
  recommendedWeight: number | null;
  triggerWords: string[];
  licenseName: string | null;
  licenseUrl: string | null;
  /** In whole sentences, for a person. */
  warnings: string[];
};

/** Weights by a name that means the same bytes for ever, or, where `isFrozen` is false, only as long as their owner likes. */
export type FrozenSource = {
  source: SourceRef;
  isFrozen: boolean;
  sha256: string | null;
  byteLength: number | null;
  /** Where a provider can fetch the bytes; null: it knows them by their reference, or they are ours. */
  url: string | null;
};

export type SourceHealth = {
  status: "healthy" | "degraded" | "missing" | "unknown";
  /** Null when healthy. */
  detail: string | null;
};

/** How a source may be reached. */
export type SourceIo = {
  hub: { baseUrl: string; token: string | null };
  rules: FetchRules;
};

/** Why a source tells nothing. */
export type SourceReason =
  /** There is no such repository, revision or file; or it is private, which looks the same from outside. */
  | "not_found"
  /** There is one, for those whom its owner lets in. */
  | "no_access"
  /** It holds no weights that can be used. */
  | "unusable"
  /** Its address is none that may be fetched. */
  | "refused"
  /** It cannot be asked right now. */
  | "unavailable";

/** The one error of sources. `message` is ours alone and safe to show. */
export class SourceFault extends Error {
  override readonly name = "SourceFault";
  constructor(
    readonly reason: SourceReason,
    message: string,
  ) {
    super(message);
  }
}

/** One kind of place that LoRA weights come from. It knows nothing of projects or adapters. */
export type ModelSource = {
  kind: SourceKind;
  /** What a person's or an agent's text names here; null: nothing of this kind. Asks no one. */
  read(query: string, io: Pick<SourceIo, "hub" | "rules">): SourceRef | null;
  /** Looks it up and proposes what to register. Throws SourceFault. */
  preview?(source: SourceRef, io: SourceIo): Promise<SourcePreview>;
  /** Fixes which bytes are meant. Throws SourceFault. */
  freeze?(source: SourceRef, io: SourceIo): Promise<FrozenSource>;
  /** Are the weights still there, unchanged? Follows no branch or tag; what a source does wrong is an answer. */
  health?(frozen: FrozenSource, io: SourceIo): Promise<SourceHealth>;
};
