import { pool, type Queryable } from "@/server/platform/db";
import { maybe, type Of, text, texts } from "./column";

/** The parameters that bound a read to what its caller may see, as `access.authorize` answers them. Null: no restriction of this kind. */
export const SCOPE = {
  organizationIds: maybe(texts),
  projectId: maybe(text),
  environment: maybe(text),
  principalId: maybe(text),
};
export type TenantScope = Of<typeof SCOPE>;

/** The condition that each parameter of SCOPE puts on `table`, which is empty or an alias and its dot. */
const CONDITIONS: { [N in keyof typeof SCOPE]: (table: string) => string } = {
  organizationIds: (table) =>
    `($organizationIds::text[] IS NULL OR ${table}organization_id = ANY($organizationIds))`,
  projectId: (table) => `($projectId::text IS NULL OR ${table}project_id = $projectId)`,
  environment: (table) => `($environment::text IS NULL OR ${table}environment = $environment)`,
  principalId: (table) => `($principalId::text IS NULL OR ${table}principal_id = $principalId)`,
};

/** The condition with which a statement uses these parameters, which are some of SCOPE, on the rows of this alias. */
export const inScope = (params: Partial<typeof SCOPE>, alias?: string): string =>
  Object.entries(CONDITIONS)
    .filter(([name]) => name in params)
    .map(([, condition]) => condition(alias ? `${alias}.` : ""))
    .join(" AND ");

/** The same with all parameters, for a statement over one table. */
export const IN_SCOPE = inScope(SCOPE);

type Reading<Params, Row> = { all(db: Queryable, params: Params): Promise<Row[]> };

/** Reads rows of tenants, the one way of statements that take a caller's scope: the parameters of `scope` and `given` together. */
export const readInScope = <Scope extends object, Given extends object, Row>(
  reading: Reading<Scope & Given, Row>,
  scope: Scope,
  given: Given,
): Promise<Row[]> => reading.all(pool, { ...given, ...scope });
