import { parseArgs } from "node:util";

/*
 * Bulks of pinned executions. `npm run prove:bulk [-- --kills 100]` kills web and worker while bulks run and asks the database
 * and the sandbox's own log what became of every item. `npm run prove:bulk -- --items 10000` runs one bulk of this size through
 * an undisturbed installation and prints its figures. Both exit 1 if a promise is broken.
 */

const { values: options } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    items: { type: "string" },
    concurrency: { type: "string", default: "64" },
  },
});
if (options.items === undefined) {
  const { proveKills } = await import("./bulk-kills");
  process.exit((await proveKills(Number(options.kills))) ? 0 : 1);
}
const { proveFigures } = await import("./bulk-figures");
process.exit((await proveFigures(Number(options.items), Number(options.concurrency))) ? 0 : 1);
