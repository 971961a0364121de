import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Row, World } from "../world";

/** The programs of docs/start, run as a reader would run them. */
export function rows(world: World): Row[] {
  const folder = join(import.meta.dirname, "..", "guides");
  const tsx = join(import.meta.dirname, "../../../node_modules/tsx/dist/cli.mjs");
  const checks = readdirSync(folder).map((file) => [
    file,
    async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [tsx, join(folder, file)], {
        env: { PATH: process.env.PATH, CAPSTAN_URL: world.baseUrl, CAPSTAN_API_KEY: world.apiKey },
      });
      assert.match(stdout, /degrees/);
    },
  ]);
  return [{ client: "docs/start", version: "", door: "as documented", checks: Object.fromEntries(checks) }];
}
