import { remembered } from "@/server/domain/access";
import { adapterDefault } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { names, type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const ROW = pick(adapterDefault, "environment capability_key alias_id");
const listOfProject = statement("adapter-defaults-of-project", {
  params: { projectId: text },
  row: ROW,
  sql: `SELECT ${names(ROW)} FROM adapter_default WHERE project_id = $projectId`,
  prepared: true,
});

/** Cached while this process receives changes, so that an execution of a project without defaults queries nothing. */
const ofProject = remembered(
  (projectId: string): Promise<readonly Of<typeof ROW>[]> => listOfProject.all(pool, { projectId }),
);

/** Ids of the default aliases in an environment by capability, for executions that name no adapters. */
export async function defaultsOf(place: {
  projectId: string;
  environment: string;
}): Promise<ReadonlyMap<string, string>> {
  const rows = await ofProject(place.projectId);
  return new Map(
    rows
      .filter(({ environment }) => environment === place.environment)
      .map(({ capability_key, alias_id }) => [capability_key, alias_id]),
  );
}
