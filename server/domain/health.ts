import { pool } from "@/server/db";

const PATIENCE_MS = 2_000;

/** Does the database answer, with our tables in it? False after two seconds. */
export async function isDatabaseReady(): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS);
  });
  const asked = pool.query("SELECT 1 FROM api_key LIMIT 1").then(
    () => true,
    () => false,
  );
  const isReady = await Promise.race([asked, tooLate]);
  clearTimeout(timer);
  return isReady;
}
