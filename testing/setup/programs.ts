import { readdirSync } from "node:fs";
import { build } from "esbuild";

/** Where bundled programs are, for testing/processes.ts; inside the checkout, so that they find its packages. */
export const PROGRAMS = "node_modules/.cache/capstan/test-programs";

/** Bundles the programs that tests start as processes of their own: from their sources each would take seconds to load. */
export default async function bundlePrograms(): Promise<void> {
  const programs = readdirSync("testing").filter((name) => name.endsWith("-process.ts"));
  await build({
    entryPoints: ["inngest/test/kill-worker.ts", ...programs.map((name) => `testing/${name}`)],
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
}
