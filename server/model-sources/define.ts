import type { FetchRules } from "@/server/platform/http";

export type SourceKind = "service_artifact" | "huggingface" | "provider_ref";

/** A reference to LoRA weights, as read from a text or as completed by its source. */
export type SourceRef = {
  kind: SourceKind;
  /** An artifact's id, `owner/name`, a direct https link, or the provider's own reference. */
  ref: string;
  /** A branch, a tag or a commit; null for the current state. */
  revision: string | null;
  filePath: string | null;
  /** The provider whose reference it is; null for other kinds and direct links. */
  provider: string | null;
};

export type WeightsFile = {
  path: string;
  byteLength: number | null;
  /** Lower-case hex; null if the source does not report it. */
  sha256: string | null;
};

/** A source's facts about weights, found without reading a byte of a tensor. */
export type WeightsPreview = {
  /** The reference with the repository's current name and the selected file. */
  source: SourceRef;
  /** The commit; null if the source has no commits. */
  revision: string | null;
  files: WeightsFile[];
  /** Null if no file was named and several could be meant, or the list is incomplete. */
  selectedFile: string | null;
  baseModelFamily: string | null;
  displayName: string | null;
  recommendedWeight: number | null;
  triggerWords: string[];
  licenseName: string | null;
  licenseUrl: string | null;
  /** Complete sentences for a person. */
  warnings: string[];
};

/** Weights with the name under which they are used. A frozen name means the same bytes forever; others may change. */
export type FrozenSource = {
  source: SourceRef;
  isFrozen: boolean;
  sha256: string | null;
  byteLength: number | null;
  /**
   * URL from which a provider can fetch the bytes; null if the provider knows them by their reference, they are stored here, or
   * no file is named.
   */
  url: string | null;
};

export type SourceHealth = {
  status: "healthy" | "degraded" | "missing" | "unknown";
  /** Null when healthy. */
  detail: string | null;
};

/** Settings with which sources are reached. */
export type SourceIo = {
  hub: { baseUrl: string; token: string | null };
  rules: FetchRules;
};

/** Reasons why a source reports nothing. */
export type SourceReason =
  /** No such repository, revision or file; a private one looks the same from outside. */
  | "not_found"
  /** The source exists, but access to it is denied or limited by its owner. */
  | "no_access"
  /** The repository or file has no weights that can be used. */
  | "unusable"
  /** The address may not be fetched. */
  | "refused"
  /** The source cannot be reached right now, or its answer cannot be used. */
  | "unavailable";

/** The error of sources. `message` is our own text and safe to show. */
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
  /** Reads a person's or an agent's text; null if it names nothing of this kind. Makes no request. */
  read(query: string, io: Pick<SourceIo, "hub" | "rules">): SourceRef | null;
  /** Looks the source up and proposes what to register. Throws SourceFault. */
  preview?(source: SourceRef, io: SourceIo): Promise<WeightsPreview>;
  /** Pins the bytes that are meant, if the source can; `isFrozen` says so. Throws SourceFault. */
  freeze?(source: SourceRef, io: SourceIo): Promise<FrozenSource>;
  /**
   * Checks that the weights are still there and unchanged, at the pinned commit if there is one. Source errors are returned, not
   * thrown.
   */
  health?(frozen: FrozenSource, io: SourceIo): Promise<SourceHealth>;
};
