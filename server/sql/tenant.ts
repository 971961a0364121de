import { pool, type Queryable } from "@/server/platform/db";
import { maybe, type Of, text, texts } from "./column";

/**
 * The parameters that bound a read to what its caller may see, as `access.authorize` returns them. Null: no
 * restriction of this kind.
 */
export const SCOPE = {
  organizationIds: maybe(texts),
  projectId: maybe(text),
  environment: maybe(text),
  principalId: maybe(text),
};
export type TenantScope = Of<typeof SCOPE>;

/** The condition that each value of SCOPE puts on `table`, which is empty or an alias and its dot. */
const CONDITIONS: { [N in keyof typeof SCOPE]: (table: string, value: string) => string } = {
  organizationIds: (table, value) => `(${value}::text[] IS NULL OR ${table}organization_id = ANY(${value}))`,
  projectId: (table, value) => `(${value}::text IS NULL OR ${table}project_id = ${value})`,
  environment: (table, value) => `(${value}::text IS NULL OR ${table}environment = ${value})`,
  principalId: (table, value) => `(${value}::text IS NULL OR ${table}principal_id = ${value})`,
};

/** The condition that limits the rows of this alias by these parameters, which are some of SCOPE. */
export const inScope = (params: Partial<typeof SCOPE>, alias?: string): string =>
  Object.entries(CONDITIONS)
    .filter(([name]) => name in params)
    .map(([name, condition]) => condition(alias ? `${alias}.` : "", `$${name}`))
    .join(" AND ");

/** The condition with all of these parameters, for a statement over one table. */
export const IN_SCOPE = inScope(SCOPE);

/** The same condition for a batch with all of SCOPE in its input: each row of `input` bounds its own rows of this alias. */
export const inScopeOfInput = (alias: string): string =>
  Object.entries(CONDITIONS)
    .map(([name, condition]) => condition(`${alias}.`, `input."${name}"`))
    .join(" AND ");

/** The parameters of SCOPE that a statement takes. None can be left out, because that would restrict nothing; null says so. */
type Bounds<Params> = Required<Pick<Params, keyof Params & keyof TenantScope>>;
type Reading<Params, Row> = { all: (db: Queryable, params: Params) => Promise<Row[]> };

/** Reads rows of tenants with a statement whose parameters are a caller's scope and those of `given`. */
export const readInScope = <Params extends object, Row>(
  reading: Reading<Params, Row>,
  scope: Bounds<Params>,
  given: Omit<Params, keyof TenantScope>,
): Promise<Row[]> => reading.all(pool, { ...given, ...scope } as Params); // together they are all parameters
