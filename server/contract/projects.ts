import { z } from "zod";
import { DateTime } from "./common";
import { EnvironmentSlug } from "./organizations";

const Id = z.string().min(1).max(64);
const Word = z.string().trim().min(1).max(128);

export const OrganizationUpdate = z
  .strictObject({ displayName: z.string().trim().min(1).max(255) })
  .meta({ id: "OrganizationUpdate" });
export type OrganizationUpdate = z.output<typeof OrganizationUpdate>;

export const Repository = z
  .strictObject({
    provider: z.string().trim().min(1).max(32).default("github"),
    owner: Word,
    name: Word,
    url: z
      .url({ protocol: /^https?$/ })
      .max(512)
      .refine((url) => !URL.canParse(url) || !/[@?#]/.test(url.replace(/^https?:\/\//, "")), {
        message:
          "must not contain a user name, password or query, because everyone who reads the project sees it",
      })
      .nullish()
      .transform((url) => url ?? null),
  })
  .meta({ id: "RepositoryIn" });
export type Repository = z.output<typeof Repository>;

export const ProjectCreate = z
  .strictObject({
    displayName: z.string().trim().min(1).max(255),
    environment: EnvironmentSlug.default("development").meta({
      description: "Created in addition to `development` and `production`, which every project has.",
    }),
    repository: Repository.nullish(),
  })
  .meta({ id: "ProjectCreate" });
export type ProjectCreate = z.output<typeof ProjectCreate>;

export const Status = z.enum(["active", "archived"]);

export const Environment = z
  .object({
    id: z.string(),
    environmentId: z.string(),
    projectId: z.string(),
    slug: z.string(),
    displayName: z.string(),
    status: Status,
    createdAt: DateTime,
  })
  .meta({ id: "Environment" });
export type Environment = z.output<typeof Environment>;

export const ProjectDetail = z
  .object({
    id: z.string(),
    projectId: z.string(),
    organizationId: z.string(),
    displayName: z.string(),
    slug: z.string(),
    status: Status,
    repository: z
      .object({ provider: z.string(), owner: z.string(), name: z.string(), url: z.string().nullable() })
      .nullable(),
    /** Includes archived ones. */
    environments: z.array(Environment),
    createdAt: DateTime,
  })
  .meta({ id: "Project" });
export type ProjectDetail = z.output<typeof ProjectDetail>;

export const ProjectSettingsPatch = z
  .strictObject({
    displayName: Word.nullish(),
    slug: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[a-z0-9][a-z0-9-]*$/, "Lower-case letters, digits and hyphens.")
      .nullish()
      .meta({ description: "Unique in the organization." }),
    status: Status.nullish().meta({
      description: "An archived project rejects work and changes. Its data can still be read.",
    }),
    repository: Repository.nullish(),
    clearRepository: z.boolean().default(false),
    environments: z
      .array(
        z.strictObject({
          id: Id.nullish().meta({
            description: "The environment to change. Without it, a new one is added.",
          }),
          slug: EnvironmentSlug.optional().meta({
            description: "The slug of a new environment. The slug of an existing one cannot change.",
          }),
          displayName: Word.optional(),
          status: Status.nullish(),
        }),
      )
      .max(50)
      .optional()
      .meta({ description: "The environments to change or add. The others are not changed." }),
  })
  .meta({ id: "ProjectSettingsPatch" });
export type ProjectSettingsPatch = z.output<typeof ProjectSettingsPatch>;

export const ProjectList = z.object({ items: z.array(ProjectDetail) }).meta({ id: "ProjectList" });
export const EnvironmentList = z.object({ items: z.array(Environment) }).meta({ id: "EnvironmentList" });

export const OrganizationDetail = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    displayName: z.string(),
    /** The caller's role in the organization; null for an operator of the installation who is not a member. */
    role: z.enum(["owner", "admin", "member", "viewer"]).nullable(),
    createdAt: DateTime,
  })
  .meta({ id: "Organization" });
export type OrganizationDetail = z.output<typeof OrganizationDetail>;
export const OrganizationList = z
  .object({ items: z.array(OrganizationDetail) })
  .meta({ id: "OrganizationList" });
