/* Resolves `typescript` to compiler.mjs for openapi-typescript. */
import { register } from "node:module";

const compiler = new URL("./compiler.mjs", import.meta.url).href;
const hook = `export const resolve = (name, context, next) => next(name === "typescript" ? "${compiler}" : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
