import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");
const SKIPPED = new Set(["node_modules", "generated", "dist", ".next", ".data", ".git", "bench", "oracle"]);

export function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesUnder(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

export const isTest = (file: string) =>
  /\.test\.tsx?$|\.fixture\.ts$|\.contract\.ts$|\/fixtures\/|\/test\/(?!route\.ts$)/.test(file);
export const sources = ["app", "components", "inngest", "server"]
  .flatMap(filesUnder)
  .filter((file) => !isTest(file));
export const textOf = new Map(sources.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));

/** Lists the imports of a file, as paths from the root without extension; packages keep their names. */
export function importsOf(file: string): { target: string; isTypeOnly: boolean }[] {
  const found = [
    ...(textOf.get(file) ?? "").matchAll(/^\s*(import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"/gm),
  ];
  return found.map(([, , type, from]) => ({
    target: targetOf(file, from ?? ""),
    isTypeOnly: type !== undefined,
  }));
}

export function targetOf(file: string, from: string): string {
  if (from.startsWith("@/")) return from.slice(2);
  return from.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(file), from)) : from;
}

export const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

export const UNITS = "server/platform/time/units";
