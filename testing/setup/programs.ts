import { readdirSync } from "node:fs";
import { build } from "esbuild";

/** The folder of bundled programs: inside the checkout, so that they find its packages, and separate for each checkout. */
export const PROGRAMS = "test-results/programs";

/** Operators' commands that tests run through a shell. */
const COMMANDS = ["admin", "restore", "verify"].map((name) => `scripts/${name}.ts`);

// Two projects of the configuration need it.
const shared = globalThis as { capstanTestPrograms?: Promise<unknown> };

/** Bundles the programs that tests start as processes, because each would take seconds to load from source. */
export default async function bundlePrograms(): Promise<void> {
  const programs = readdirSync("testing").filter((name) => name.endsWith("-process.ts"));
  shared.capstanTestPrograms ??= build({
    entryPoints: ["inngest/test/kill-worker.ts", ...COMMANDS, ...programs.map((name) => `testing/${name}`)],
    entryNames: "[name]",
    outdir: PROGRAMS,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  await shared.capstanTestPrograms;
}
