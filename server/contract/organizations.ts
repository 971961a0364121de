import { z } from "zod";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { DateTime } from "./common";
import { KEY_SCOPES, ROLES, SCOPES } from "./enums";
import { MaturityRating, RetentionRequirement } from "./envelope";
import { ManagementGrant } from "./management-keys";

export const Role = z.enum(ROLES);
export type Role = z.output<typeof Role>;

/** A permission of an API key. */
export const Scope = z.enum(SCOPES).meta({ id: "Scope" });
export type Scope = z.output<typeof Scope>;

/** A permission that keys other than management keys can have. */
export const KeyScope = z.enum(KEY_SCOPES);

/** The slug is part of a key's text and of a request's context. */
export const EnvironmentSlug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/);
const DisplayName = z.string().trim().min(1).max(255);
const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email({ pattern: z.regexes.html5Email }));
/** The minimum resists guessing; the maximum limits the cost of hashing. */
export const Password = z
  .string()
  .min(12, "Choose a password of at least 12 characters.")
  .max(200, "Choose a password of at most 200 characters.");

export const Organization = z.object({
  organizationId: z.string(),
  displayName: z.string(),
  createdAt: DateTime,
});
export type Organization = z.output<typeof Organization>;

export const Project = z.object({
  projectId: z.string(),
  organizationId: z.string(),
  displayName: z.string(),
  slug: z.string(),
  status: z.string(),
  environments: z.array(z.object({ environmentId: z.string(), slug: z.string(), displayName: z.string() })),
  createdAt: DateTime,
});
export type Project = z.output<typeof Project>;

const Days = z.number().gt(0).max(3_650);
/** A project's settings for its jobs; the database row holds settings of other kinds beside them. */
export const StoredSettings = z.looseObject({
  maturityRating: MaturityRating.optional(),
  /** Days that content is kept, by retention class, if fewer than the standard. */
  retentionDays: z.partialRecord(RetentionRequirement, Days).default({}),
});
export const ChangeProject = z.strictObject({
  projectId: z.string().min(1).max(64),
  /** Null removes the rating. */
  maturityRating: MaturityRating.nullish(),
  /** Null restores the standard, for content stored from now on. */
  retentionDays: z.partialRecord(RetentionRequirement, Days.nullable()).optional(),
});
export const ProjectSettings = z.object({
  projectId: z.string(),
  maturityRating: MaturityRating.nullable(),
  retentionDays: z.partialRecord(RetentionRequirement, Days),
});
export type ProjectSettings = z.output<typeof ProjectSettings>;

export const Person = z.object({
  userId: z.string(),
  email: z.string(),
  displayName: z.string(),
  isOperator: z.boolean(),
  memberships: z.array(z.object({ organizationId: z.string(), role: Role })),
  createdAt: DateTime,
});
export type Person = z.output<typeof Person>;

export const ApiKey = z
  .object({
    keyId: z.string(),
    name: z.string(),
    /** First characters of the key; the full text is shown once, on creation. */
    prefix: z.string(),
    organizationId: z.string(),
    /** Null if the key is not bound; each request must then name its project. */
    projectId: z.string().nullable(),
    environment: z.string(),
    scopes: z.array(Scope),
    createdBy: z.string().nullable(),
    createdAt: DateTime,
    expiresAt: DateTime.nullable(),
    revokedAt: DateTime.nullable(),
    revoked: z.boolean(),
    lastUsedAt: DateTime.nullable(),
    /** The key that replaced this one in a rotation. */
    replacedBy: z.string().nullable(),
    management: ManagementGrant.nullable().meta({
      description: "Of a management key: what it can hand out. Null for every other key.",
    }),
    madeByKey: z.string().nullable().meta({ description: "The management key that created this key." }),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.output<typeof ApiKey>;

export const NewApiKey = ApiKey.extend({ apiKey: z.string() }).meta({ id: "NewApiKey" });
export type NewApiKey = z.output<typeof NewApiKey>;

export const CreateOrganization = z.strictObject({ name: DisplayName });

export const CreateProject = z.strictObject({
  name: DisplayName,
  /** Defaults to the oldest organization that the caller sees. */
  organizationId: z.string().max(64).optional(),
});

export const CreateUser = z.strictObject({
  email: Email,
  displayName: DisplayName.optional(),
  organizationId: z.string().max(64).optional(),
  role: Role.default("member"),
  /** If left out, a password is generated and returned. */
  password: Password.optional(),
});

export const CreateApiKey = z
  .strictObject({
    name: DisplayName,
    /** Binds the key to this project. */
    projectId: z.string().max(64).optional(),
    /** Makes an unbound key for every project of this organization. */
    organizationId: z.string().max(64).optional(),
    environment: EnvironmentSlug.default("development"),
    scopes: z.array(KeyScope).min(1).optional(),
    expiresInSeconds: z
      .int()
      .min(1)
      .max(10 * 366 * DAY_SECONDS)
      .optional(),
  })
  .refine((key) => Boolean(key.projectId) !== Boolean(key.organizationId), {
    message: "Send a project, or an organization for an unbound key.",
    path: ["projectId"],
  });

export const ListApiKeys = z.strictObject({
  projectId: z.string().max(64).optional(),
  organizationId: z.string().max(64).optional(),
  includeRevoked: z.boolean().default(false),
});

export const GrantOperator = z.strictObject({ email: Email });
export const SignIn = z.object({ email: z.string().max(1000), password: z.string().max(1000) });

/** Rules that decide which jobs of a project wait for a person's approval. */
export const ApprovalRules = z
  .object({
    projectId: z.string(),
    thresholdUsd: z.number().nullable().meta({
      description: "Jobs with a higher estimate wait for approval. Null: no job waits.",
    }),
    requireDifferentApprover: z.boolean().meta({
      description: "Whoever submitted a job cannot approve it. A key counts as the person who created it.",
    }),
  })
  .meta({ id: "ApprovalRules" });
export type ApprovalRules = z.output<typeof ApprovalRules>;

export const SetApprovalRules = z
  .strictObject({
    thresholdUsd: z.number().min(0).max(1_000_000).nullable(),
    requireDifferentApprover: z.boolean(),
  })
  .meta({ id: "ApprovalRulesSet" });
export type SetApprovalRules = z.output<typeof SetApprovalRules>;
