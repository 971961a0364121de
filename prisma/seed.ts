import { closeDatabase } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { seed } from "./bootstrap";

try {
  console.log(JSON.stringify(await seed(env.CAPSTAN_DATA_DIR)));
} finally {
  await closeDatabase();
}
