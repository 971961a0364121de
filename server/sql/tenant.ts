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

/** The condition with which a statement over rows of tenants uses these parameters. */
export const IN_SCOPE = `($organizationIds::text[] IS NULL OR organization_id = ANY($organizationIds))
    AND ($projectId::text IS NULL OR project_id = $projectId)
    AND ($environment::text IS NULL OR environment = $environment)
    AND ($principalId::text IS NULL OR principal_id = $principalId)`;

type Reading<Params, Row> = { all(db: Queryable, params: Params): Promise<Row[]> };

/** Reads rows of tenants, the one way of statements that take a caller's scope: the parameters of `scope` and `given` together. */
export const readInScope = <Scope extends object, Given extends object, Row>(
  reading: Reading<Scope & Given, Row>,
  scope: Scope,
  given: Given,
): Promise<Row[]> => reading.all(pool, { ...given, ...scope });
