import { join } from "node:path";

/** A worker thread's program: a built file, or the text of a CommonJS bundle. */
export type Program = { file: string } | { code: string };

/**
 * Finds the program of a worker thread, `server/compute/<folder>/worker.ts`: the file of the last build, if this process is built
 * itself or the file is newer than its sources; otherwise (development, tests) a bundle made in memory. Both are found from the
 * working directory, because this file itself may be inside a bundle.
 */
export async function findProgram(folder: string, root: string = process.cwd()): Promise<Program> {
  const built = join(root, "dist", `${folder}-worker.mjs`);
  const sources = join(root, "server/compute", folder);
  const builtAt = await changedAt(built);
  const isBuilt = process.env.NODE_ENV === "production"; // its sources may be absent, or newer by a copy
  if (builtAt > 0 && (isBuilt || builtAt >= (await newest(sources)))) return { file: built };
  return { code: await bundle(join(sources, "worker.ts"), root) };
}

async function changedAt(path: string): Promise<number> {
  const { stat } = process.getBuiltinModule("node:fs/promises");
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

async function newest(folder: string): Promise<number> {
  const { readdir } = process.getBuiltinModule("node:fs/promises");
  const names = await readdir(folder).catch(() => []);
  const times = await Promise.all(
    names.filter((name) => /(?<!\.test)\.ts$/.test(name)).map((name) => changedAt(join(folder, name))),
  );
  return Math.max(0, ...times);
}

async function bundle(entry: string, root: string): Promise<string> {
  // esbuild is found at run time, so that it is part of no bundle.
  const { createRequire } = process.getBuiltinModule("node:module");
  const { build }: typeof import("esbuild") = createRequire(join(root, "package.json"))("esbuild");
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    packages: "external", // found from the working directory; some have files of their own beside them
    logLevel: "silent",
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`The bundle of ${entry} is empty.`);
  return file.text;
}
