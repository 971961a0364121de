// Starts one process of an installation from the existing build: installs, builds and migrates nothing on its own. Commands
// that end run from the build too, so that an image needs neither the sources nor the packages that only a build uses.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const COMMANDS = ["migrate", "admin", "doctor", "backup", "restore"];

process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), ".."));
if (existsSync(".env")) process.loadEnvFile(".env");
try {
  if (!existsSync("dist/start.mjs")) throw new Error("There is no build yet. Run: npm run build");
  const [name] = process.argv.slice(2);
  if (COMMANDS.includes(name)) {
    process.argv.splice(2, 1);
    await import(`../dist/${name}.mjs`);
  } else {
    const { start } = await import("../dist/start.mjs");
    start(process.argv.slice(2));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error?.name === "Refusal" ? 2 : 1;
}
