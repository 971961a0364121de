import { Prisma } from "@/server/generated/prisma/client";
import { prisma } from "@/server/platform/db";

type Where = { readonly [field: string]: unknown };
type Args = Partial<
  Record<"where" | "include" | "select", Where> & Record<"data" | "create" | "update", unknown>
>;
type Rule = {
  /** The fields of which a `where` must name one. */
  by: readonly string[];
  /** Why its rows belong to no tenant, and how they are found then. */
  why?: string;
  /** The relations that a query may include, and their models. */
  include?: Readonly<Record<string, Model>>;
};
type Model = Prisma.ModelName;

/** The models that Prisma Client reads and writes, and the fields that bound a query to a tenant or a person. */
const RULES: Readonly<Partial<Record<Model, Rule>>> = {
  ApiKey: { by: ["organizationId", "madeByKey"] },
  Organization: { by: ["id"] },
  Project: {
    by: ["organizationId"],
    include: { environments: "Environment", organization: "Organization" },
  },
  Membership: { by: ["organizationId"] },
  User: {
    by: ["id", "email", "isOperator", "memberships"],
    why: "A person may belong to several tenants or to none. The id is the caller's own, and sign-in knows only an address.",
    include: { memberships: "Membership" },
  },
  DeviceLogin: {
    by: ["codeHash", "userCode"],
    why: "A device that signs in has no person yet. It is found by its code, or by the hash of its code.",
  },
  Session: {
    by: ["id", "userId", "tokenHash"],
    why: "A session is a person's. A request finds it by the id in its encrypted cookie, or by the hash of its token.",
  },
};

/** Explicitly matches every row, for callers that may see all. No id is empty. */
export const EVERY = { not: "" };

/** True if this filter names values. `undefined` in it would match every row, and so would a negation. */
function isGiven(filter: unknown): boolean {
  if (filter === undefined || filter === null) return false;
  if (typeof filter !== "object" || filter instanceof Uint8Array) return filter !== false;
  if (Array.isArray(filter)) return !filter.some((each) => !isGiven(each));
  const [[operator, value] = [], ...others] = Object.entries(filter);
  if (others.length > 0) return false;
  return operator === "in" || operator === "equals" ? isGiven(value) : operator === "not" && value === "";
}

function isBound(model: Model, where: Where): boolean {
  const named = RULES[model]?.by.some((field) =>
    field === "memberships"
      ? isBound("Membership", (where.memberships as { some?: Where } | undefined)?.some ?? {}) // a filter of a list
      : isGiven(where[field]),
  );
  return named || [where.AND ?? []].flat().some((part) => isBound(model, part as Where)); // Prisma's AND holds conditions of the same type
}

const isColumn = (model: Model, field: string): boolean => field in Prisma[`${model}ScalarFieldEnum`];

/**
 * Refuses relations that are not listed, and rows of tenants included with a person's unless they are bound
 * to a tenant. The relations of a tenant's row are within that tenant.
 */
function refuseIncluded(model: Model, { include, select }: Args): void {
  for (const [field, value] of Object.entries({ ...select, ...include })) {
    if (!value || isColumn(model, field)) continue;
    const related = RULES[model]?.include?.[field];
    if (!related) throw new TypeError(`A query of ${model} cannot include ${field}: write a statement.`);
    const args: Args = value === true ? {} : (value as Args); // an included relation has arguments of this form
    if (RULES[model]?.why && !RULES[related]?.why) refuseUnbound(related, args);
    refuseIncluded(related, args);
  }
}

function refuseOther(model: Model): void {
  if (!RULES[model]) throw new TypeError(`Prisma Client is not used for ${model}: write a statement.`);
}

function refuseUnbound(model: Model, args: Args): void {
  if (!isBound(model, args.where ?? {}))
    throw new TypeError(
      `A query of ${model} must name its tenant or person: ${RULES[model]?.by.join(" or ")}.`,
    );
}

/** Refuses writes of other models' rows within one of this model. */
function refuseNested(model: Model, { data, create, update }: Args): void {
  for (const row of [data ?? [], create ?? [], update ?? []].flat())
    for (const field of Object.keys(row as object)) // Prisma's data is a row or a list of rows
      if (!isColumn(model, field))
        throw new TypeError(
          `A write of ${model} cannot write ${field}: write statements in one transaction.`,
        );
}

/**
 * Prisma Client for plain rows of people and settings; no other file uses it directly. A query that does not
 * name whose rows it reaches throws before it is sent. It joins no transaction: acts that commit together are
 * statements.
 */
export const people = prisma.$extends({
  query: {
    $allModels: {
      $allOperations({ model, operation, args, query }) {
        const given = args as Args; // each operation's arguments have this form
        refuseOther(model);
        if (!operation.startsWith("create")) refuseUnbound(model, given);
        refuseIncluded(model, given);
        refuseNested(model, given);
        return query(args);
      },
    },
  },
});

/** The filter of a field that names organizations: those that the caller may see; null means all. */
export const amongOrganizations = (visible: string[] | null) => (visible ? { in: visible } : EVERY);

declare const authorized: unique symbol;
/** A project that `access.authorize` returned. */
export type Authorized = {
  readonly id: string;
  readonly organizationId: string;
  readonly [authorized]: true;
};
/**
 * The filter of a project that `access.authorize` returned. It also names the tenant that the check found.
 */
export const byAuthorized = ({ id, organizationId }: Authorized) => ({ id, organizationId });
