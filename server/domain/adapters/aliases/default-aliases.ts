import { remembered } from "@/server/domain/access";
import { pool } from "@/server/platform/db";

type Row = { environment: string; capability_key: string; alias_id: string };

/** Remembered where changes are heard of, so that an execution of a project without defaults asks the database nothing. */
const ofProject = remembered(async (projectId: string): Promise<readonly Row[]> => {
  const { rows } = await pool.query<Row>({
    name: "adapter-defaults-of-project",
    text: "SELECT environment, capability_key, alias_id FROM adapter_default WHERE project_id = $1",
    values: [projectId],
  });
  return rows;
});

/** The aliases that executions in an environment use where they name no adapters, by capability. */
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
