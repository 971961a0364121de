import { prepare } from "./prepare.mjs";

try {
  const launcher = await prepare();
  await launcher.test(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.log("\n0 passed, 1 failed");
  process.exit(1);
}
