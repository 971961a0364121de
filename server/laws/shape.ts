import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openImports, sourceFiles } from "@/scripts/test/imports";

const MOST_FILES = 20;
/** Folders with one file for each member of a kind, where a long list is as easy to read as a short one. */
const REGISTRIES =
  /^(server\/(capabilities|providers|contract|operations|trpc\/routers)|components\/ui|docs.*|prisma\/migrations|testing|e2e.*)$/;
const TEST = /\.(test|spec)\.tsx?$|\.(fixture|contract)\.ts$|\/(fixtures|[\w-]+\.fixtures)\/|\/test\//;

/**
 * These files import the domain, because the tables' columns have the types of what the domain modules store
 * in them.
 */
const GENERATED = /\.gen\.ts$|^server\/generated\//;

/** Finds faults in the shape of the tree: crowded folders and import cycles. */
export function faultsOfShape(root: string): string[] {
  const files = sourceFiles(root).filter((file) => !TEST.test(file) && !GENERATED.test(file));
  return [...faultsOfFolders(countFiles(files)), ...faultsOfCycles(cyclesOf(importsOf(root, files)))];
}

/** Number of files side by side in each folder. */
export function countFiles(files: string[]): Map<string, number> {
  const count = new Map<string, number>();
  for (const file of files) {
    const folder = file.slice(0, file.lastIndexOf("/"));
    count.set(folder, (count.get(folder) ?? 0) + 1);
  }
  return count;
}

export const faultsOfFolders = (count: Map<string, number>): string[] =>
  [...count]
    .filter(([folder, files]) => files > MOST_FILES && !REGISTRIES.test(folder))
    .map(
      ([folder, files]) =>
        `${folder} has ${files} files side by side, more than ${MOST_FILES}: give it rooms.`,
    );

/** Maps each file to the files that it imports, types included. */
function importsOf(root: string, files: string[]): Map<string, string[]> {
  const { find } = openImports(root);
  const known = new Set(files);
  const statement = /^\s*(?:import|export)\s[^;]*?from\s+"((?:@\/|\.)[^"]+)"/gm;
  const targetsOfPort = (file: string) =>
    [...readFileSync(join(root, file), "utf8").matchAll(statement)]
      .map(([, from = ""]) => find(file, from))
      .filter((target): target is string => target !== undefined && known.has(target));
  return new Map(files.map((file) => [file, targetsOfPort(file)]));
}

/** Finds every group of files that import each other in a circle, its files sorted (Tarjan's algorithm). */
export function cyclesOf(imports: Map<string, string[]>): string[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[] = [];
  const walk = (file: string): number => {
    let low = order.size;
    order.set(file, low);
    const own = low;
    open.push(file);
    for (const target of imports.get(file) ?? []) {
      if (target === file) cycles.push(file);
      if (!order.has(target)) low = Math.min(low, walk(target));
      else if (open.includes(target)) low = Math.min(low, lowest.get(target) ?? order.get(target) ?? low);
    }
    lowest.set(file, low);
    if (low < own) return low;
    const group = open.splice(open.indexOf(file));
    if (group.length > 1) cycles.push(group.sort().join(" "));
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) walk(file);
  return cycles;
}

/** Returns a fault for each cycle of imports, type imports included. */
export const faultsOfCycles = (cycles: string[]): string[] =>
  cycles.map((each) => `These files import each other: ${each}.`);
