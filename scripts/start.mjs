// Starts one process of an installation from the existing build: installs, builds and migrates nothing.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), ".."));
if (existsSync(".env")) process.loadEnvFile(".env");
try {
  if (!existsSync("dist/start.mjs")) throw new Error("There is no build yet. Run: npm run build");
  const { start } = await import("../dist/start.mjs");
  start(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
