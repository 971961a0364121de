import { z } from "zod";
import { branded, DateTime, JsonObject, PathId, pageLimit } from "./common";
import { LICENSE_STATUSES, SOURCE_HEALTHS } from "./enums";
import { EnvironmentSlug } from "./organizations";

const Word = z.string().trim().min(1).max(64);
const MOST_WORDS = 64;
/** Strength of an adapter in a picture: 1 applies it as trained. */
export const AdapterWeight = z.number().min(0).max(2);
/** An alias name; comparisons ignore case. */
export const AliasName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(
    /^[\p{L}\p{N}](?:[\p{L}\p{N} ._-]*[\p{L}\p{N}])?$/u,
    "use letters, digits, and . _ - or spaces between them",
  )
  .describe("Letters and digits of any script, with spaces and . _ - between them.");
/** An http or https link that the panel shows as a link; an empty text means none. */
const WebLink = z
  .string()
  .trim()
  .max(2_048)
  .regex(/^(?:https?:\/\/\S+)?$/i, "must be an http or https link");
const DisplayName = z.string().trim().min(1).max(255);

export const AdapterQuery = z.object({
  projectId: z.string().max(64).optional(),
  environment: EnvironmentSlug.optional(),
});
export const ListAdapters = AdapterQuery.extend({
  /** The `nextCursor` of the previous page: the id of its last adapter, alias or version. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(200, 50),
});

export const AdapterSourceKind = z.enum(["service_artifact", "huggingface", "provider_ref"]);
export const LicenseStatus = z.enum(LICENSE_STATUSES);
export type LicenseStatus = z.output<typeof LicenseStatus>;
export const SourceHealthStatus = z.enum(SOURCE_HEALTHS);

/** The query of a list of adapters, with text search, family and source health. */
export const ListModelAdapters = ListAdapters.extend({
  q: z
    .string()
    .trim()
    .max(200)
    .optional()
    .meta({ description: "Text in a name, an alias, a trigger word or the source. Case is ignored." }),
  baseModelFamily: z.string().trim().max(128).optional(),
  health: SourceHealthStatus.optional(),
});

export const ModelAdapterSource = z
  .strictObject({
    kind: branded(/^[a-z0-9]+_artifact$/, "service_artifact", AdapterSourceKind),
    ref: z.string().trim().min(1).max(2_048).meta({
      description:
        "An artifact id, a repository `owner/name`, a direct https link to an allowed host, or the provider's own reference.",
    }),
    revision: z.string().max(512).nullish(),
    filePath: z.string().max(1_024).nullish(),
    provider: z.string().max(128).nullish(),
  })
  .meta({ id: "ModelAdapterSource" });

export const ModelAdapterCreate = z
  .strictObject({
    displayName: DisplayName,
    source: ModelAdapterSource,
    type: z.literal("lora").default("lora"),
    environment: EnvironmentSlug.nullish(),
    baseModelFamily: z.string().trim().max(128).nullish(),
    compatibleModels: z.array(Word).max(MOST_WORDS).default([]),
    triggerWords: z.array(Word).max(MOST_WORDS).default([]),
    recommendedWeight: AdapterWeight.nullish(),
    licenseName: z.string().trim().max(255).nullish(),
    licenseUrl: WebLink.nullish(),
    licenseStatus: LicenseStatus.default("unknown"),
    provenance: JsonObject.nullish(),
  })
  .meta({ id: "ModelAdapterCreate" });
export type ModelAdapterCreate = z.output<typeof ModelAdapterCreate>;

/** The fields of an adapter that can change. Its source, and so its bytes, environment and provenance, cannot. */
export const ModelAdapterChange = z
  .strictObject({
    displayName: DisplayName.optional(),
    baseModelFamily: z.string().trim().max(128).nullish(),
    compatibleModels: z.array(Word).max(MOST_WORDS).optional(),
    triggerWords: z.array(Word).max(MOST_WORDS).optional(),
    recommendedWeight: AdapterWeight.nullish(),
    licenseName: z.string().trim().max(255).nullish(),
    licenseUrl: WebLink.nullish(),
    licenseStatus: LicenseStatus.optional(),
  })
  .meta({ id: "ModelAdapterChange" });
export type ModelAdapterChange = z.output<typeof ModelAdapterChange>;

export const AdapterFamilies = z
  .object({
    items: z.array(
      z.object({
        name: z.string().describe("What `baseModelFamily` takes."),
        title: z.string(),
        models: z.array(z.string()).describe("`provider/model` of this version that draw with such weights."),
      }),
    ),
  })
  .meta({ id: "ModelAdapterFamilies" });

/** Describes uploaded weights; each value is a form field of its own, sent beside the file. */
export const AdapterUploadFields = ModelAdapterCreate.omit({ type: true, source: true, provenance: true });
/**
 * The upload form. Every field is text: an empty one counts as left out, and lists are written as one field with commas
 * or as several fields.
 */
export const ModelAdapterUpload = AdapterUploadFields.extend({
  file: z.file().meta({ description: "The safetensors file, before, between or after the other fields." }),
}).meta({ id: "ModelAdapterUpload" });

export const AdapterRef = z.object({ adapter_id: PathId });
export const AliasRef = z.object({ alias_name: PathId });
export const AdapterDefaultRef = z.object({ capability_key: PathId });

/**
 * Says whether any model can use the adapter, and if none can, why and what to do. A request with the adapter is
 * refused with the same texts.
 */
const Runnable = z.object({
  runnable: z.boolean(),
  notRunnable: z.array(z.object({ code: z.string(), message: z.string(), nextStep: z.string() })),
});
export type Runnable = z.output<typeof Runnable>;

export const ModelAdapter = z
  .object({
    ...Runnable.shape,
    adapterId: z.string(),
    projectId: z.string(),
    environment: z.string(),
    displayName: z.string(),
    type: z.literal("lora"),
    source: z.object({
      kind: AdapterSourceKind,
      ref: z.string(),
      revision: z.string().nullable(),
      filePath: z.string().nullable(),
      provider: z.string().nullable(),
      sha256: z.string().nullable(),
      byteLength: z.int().nullable(),
    }),
    /** Does the source always name the same bytes? If false, the adapter is only listed and no execution accepts it. */
    frozen: z.boolean(),
    sourceHealth: z.object({
      status: SourceHealthStatus,
      checkedAt: DateTime.nullable(),
      detail: z.string().nullable(),
    }),
    baseModelFamily: z.string().nullable(),
    compatibleModels: z.array(z.string()),
    triggerWords: z.array(z.string()),
    recommendedWeight: z.number().nullable(),
    licenseName: z.string().nullable(),
    licenseUrl: z.string().nullable(),
    licenseStatus: LicenseStatus,
    provenance: JsonObject,
    /** Names of the aliases whose current version is this adapter. */
    aliases: z.array(z.string()),
    createdBy: z.string(),
    createdAt: DateTime,
  })
  .meta({ id: "ModelAdapter" });
export type ModelAdapter = z.output<typeof ModelAdapter>;
export const ModelAdapterPage = z
  .object({ items: z.array(ModelAdapter), nextCursor: z.string().optional() })
  .meta({ id: "ModelAdapterPage" });
export const AdapterDeleted = z.object({ adapterId: z.string(), deleted: z.literal(true) });

export const AliasTarget = z
  .strictObject({ adapterId: z.string().min(1).max(128), weight: AdapterWeight.nullish() })
  .meta({ id: "ModelAdapterAliasTarget" });
export const AliasCreate = z
  .strictObject({ alias: AliasName, target: AliasTarget, environment: EnvironmentSlug.nullish() })
  .meta({ id: "ModelAdapterAliasCreate" });
export type AliasCreate = z.output<typeof AliasCreate>;
export const AliasPromote = z.strictObject({ target: AliasTarget }).meta({ id: "ModelAdapterAliasPromote" });

export const AliasVersion = z
  .object({
    versionId: z.string(),
    number: z.int(),
    target: z.object({ adapterId: z.string(), weight: z.number().nullable() }),
    createdBy: z.string(),
    createdAt: DateTime,
  })
  .meta({ id: "ModelAdapterAliasVersion" });
export type AliasVersion = z.output<typeof AliasVersion>;
export const Alias = z
  .object({
    ...Runnable.shape,
    aliasId: z.string(),
    alias: z.string(),
    projectId: z.string(),
    environment: z.string(),
    current: AliasVersion,
    versionCount: z.int(),
    /** The version that the project's recipe is pinned to; null if the recipe follows the alias. */
    binding: z.object({ versionId: z.string(), number: z.int(), boundAt: DateTime }).nullable(),
    createdAt: DateTime,
  })
  .meta({ id: "ModelAdapterAlias" });
export type Alias = z.output<typeof Alias>;
export const AliasPage = z
  .object({ items: z.array(Alias), nextCursor: z.string().optional() })
  .meta({ id: "ModelAdapterAliasPage" });
/** A version as the panel shows it, with its adapter and the name of the person or key that promoted it. */
export const AliasStep = AliasVersion.extend({
  adapter: ModelAdapter,
  /** The adapter was deleted after this version was made; the version remains. */
  isAdapterDeleted: z.boolean(),
  /** An email address or a key's name; null if unknown. */
  createdByName: z.string().nullable(),
});
export type AliasStep = z.output<typeof AliasStep>;
export const AliasHistory = z.object({ items: z.array(AliasStep), nextCursor: z.string().optional() });
export const AliasShown = Alias.extend({ adapter: ModelAdapter });
export type AliasShown = z.output<typeof AliasShown>;
export const AliasesShown = z.object({ items: z.array(AliasShown), nextCursor: z.string().optional() });
/** The models of a capability that draw with an adapter, or the reason why none does. */
export const AdapterUse = z.object({
  capabilityKey: z.string(),
  title: z.string(),
  models: z.array(z.string()),
  problem: z.string().nullable(),
});
export type AdapterUse = z.output<typeof AdapterUse>;

export const AliasVersionPage = z
  .object({ items: z.array(AliasVersion), nextCursor: z.string().optional() })
  .meta({ id: "ModelAdapterAliasVersionPage" });

export const RecipeBindingRequest = z
  .strictObject({
    versionId: z.string().max(128).nullish().meta({ description: "Defaults to the current version." }),
  })
  .meta({ id: "RecipeBindingRequest" });
export const RecipeBinding = z
  .object({
    alias: z.string(),
    versionId: z.string(),
    number: z.int(),
    projectId: z.string(),
    environment: z.string(),
    boundAt: DateTime,
  })
  .meta({ id: "RecipeBinding" });
export type RecipeBinding = z.output<typeof RecipeBinding>;

export const AdapterDefaultSet = z
  .strictObject({ alias: z.string().trim().min(1).max(64) })
  .meta({ id: "ProjectModelAdapterDefaultSet" });
/** `alias` and `setAt` are null if no default is set. */
export const AdapterDefault = z
  .object({
    capabilityKey: z.string(),
    alias: z.string().nullable(),
    environment: z.string(),
    setAt: DateTime.nullable(),
  })
  .meta({ id: "ProjectModelAdapterDefault" });
export type AdapterDefault = z.output<typeof AdapterDefault>;

const Query = z.string().trim().min(1).max(2_048);
export const SourcePreviewRequest = z
  .strictObject({ query: Query })
  .meta({ id: "ModelAdapterSourcePreviewRequest" });
export const SuggestionRequest = z.strictObject({ query: Query }).meta({ id: "LoraSuggestionRequest" });
export const AcceptRequest = z
  .strictObject({
    query: Query,
    filePath: z.string().max(1_024).nullish(),
    baseModelFamily: z.string().trim().max(128).nullish(),
    refresh: z.boolean().default(false),
  })
  .meta({ id: "LoraAcceptRequest" });
export type AcceptRequest = z.output<typeof AcceptRequest>;

/** The result of resolving a link; no weights are downloaded for it. */
export const SourcePreview = z
  .object({
    query: z.string(),
    kind: AdapterSourceKind,
    ref: z.string(),
    revision: z.string().nullable(),
    files: z.array(z.object({ path: z.string(), byteLength: z.int().nullable() })),
    /** The file that the link names, or the only possible one; null otherwise. */
    selectedFile: z.string().nullable(),
    baseModelFamily: z.string().nullable(),
    displayName: z.string().nullable(),
    recommendedWeight: z.number().nullable(),
    triggerWords: z.array(z.string()),
    licenseName: z.string().nullable(),
    warnings: z.array(z.string()),
  })
  .meta({ id: "ModelAdapterSourcePreview" });
export type SourcePreview = z.output<typeof SourcePreview>;

/** Maximum adapters of one execution. */
export const MOST_ADAPTERS = 4;
/** One adapter of an image request, by alias or by id. */
export const AdapterChoice = z
  .strictObject({
    alias: z
      .string()
      .trim()
      .min(1)
      .max(64)
      .optional()
      .meta({ description: "The alias, which uses the adapter last promoted under it." }),
    adapterId: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .meta({ description: "An adapter id, instead of an alias." }),
    weight: AdapterWeight.optional().meta({
      description:
        "Defaults to the weight of the alias version, then to the adapter's recommended weight, then to 1.",
    }),
  })
  .refine(({ alias, adapterId }) => (alias === undefined) !== (adapterId === undefined), {
    message: "send either alias or adapterId",
  });
export type AdapterChoice = z.output<typeof AdapterChoice>;

/** The result of resolving a link or a name for a request. */
export const Suggestion = z
  .object({
    resolution: z.enum(["patch", "suggestion", "choice", "not_found", "used", "registered"]),
    /** A patch to merge into the input of image.generate.v1. */
    patch: z.object({ adapters: z.array(AdapterChoice) }).nullable(),
    preview: SourcePreview.nullable(),
    /** The project's matching adapters, if several are possible. */
    choices: z.array(z.object({ adapterId: z.string(), displayName: z.string() })).optional(),
    adapter: ModelAdapter.nullable(),
  })
  .meta({ id: "LoraSuggestion" });
export type Suggestion = z.output<typeof Suggestion>;
