import { pool } from "@/server/platform/db";
import { finish } from "./api";

/** Runs the queued jobs of a project as a worker does, until it is stopped. */
export function workFor(projectId: string): () => Promise<void> {
  let isOpen = true;
  const work = async () => {
    while (isOpen) {
      const { rows } = await pool.query<{ id: string }>(
        "SELECT id FROM job WHERE project_id = $1 AND status = 'queued'",
        [projectId],
      );
      for (const { id } of rows) await finish(id);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const working = work();
  return async () => {
    isOpen = false;
    await working;
  };
}
