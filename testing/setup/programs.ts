import { readdirSync } from "node:fs";
import { build } from "esbuild";

/** Where bundled programs are; inside the checkout, so that they find its packages, and of this checkout alone. */
export const PROGRAMS = "test-results/programs";

/** Commands of people that tests run as a shell does. */
const COMMANDS = ["admin", "restore", "verify"].map((name) => `scripts/${name}.ts`);

// Two projects of the configuration ask for it.
const shared = globalThis as { capstanTestPrograms?: Promise<unknown> };

/** Bundles the programs that tests start as processes of their own: from their sources each would take seconds to load. */
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
