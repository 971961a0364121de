import { closeDatabase } from "@/server/db";
import { env } from "@/server/env";
import { seed } from "./bootstrap";

try {
  await seed(env.CAPSTAN_DATA_DIR);
} finally {
  await closeDatabase();
}
