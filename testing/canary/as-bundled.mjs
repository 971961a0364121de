/*
 * Node exposes a whole CommonJS package as its default export; the bundle that contains sign-in exposes the package's own
 * default.
 */

const WITH_DEFAULT = /\/node_modules\/next-auth\/(index|providers\/\w+)\.js$/;

export async function load(url, context, next) {
  if (!WITH_DEFAULT.test(url)) return next(url, context);
  const source = `import { createRequire } from "node:module";
    import { fileURLToPath } from "node:url";
    export default createRequire(${JSON.stringify(url)})(fileURLToPath(${JSON.stringify(url)})).default;`;
  return { format: "module", source, shortCircuit: true };
}
