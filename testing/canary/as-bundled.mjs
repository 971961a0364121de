/* Node gives the whole of a CommonJS package as its default; the bundle that sign-in is part of gives its own. */

const WITH_DEFAULT = /\/node_modules\/next-auth\/(index|providers\/\w+)\.js$/;

export async function load(url, context, next) {
  if (!WITH_DEFAULT.test(url)) return next(url, context);
  const source = `import { createRequire } from "node:module";
    import { fileURLToPath } from "node:url";
    export default createRequire(${JSON.stringify(url)})(fileURLToPath(${JSON.stringify(url)})).default;`;
  return { format: "module", source, shortCircuit: true };
}
