import { execFileSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runToEnd } from "../launch/ending";

/*
 * Executes the steps of the Dockerfile in plain directories, with the Node of this machine instead of the base image's. An
 * absolute path of the image is a path below its stage's directory.
 */

type Step = { instruction: string; rest: string };
type Stage = { name: string; steps: Step[] };

/** The stages of a Dockerfile in their order; the last one is the image. */
export function readStages(text: string): Stage[] {
  const stages: Stage[] = [];
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n");
  for (const line of lines.filter((each) => each.trim() !== "")) {
    const [, instruction = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (instruction === "") throw new Error(`Not an instruction: ${line}`);
    if (instruction === "FROM") {
      const [, name] = / AS (\S+)$/.exec(rest) ?? [];
      stages.push({ name: name ?? String(stages.length), steps: [] });
    } else stages.at(-1)?.steps.push({ instruction, rest });
  }
  return stages;
}

/** True if a .dockerignore leaves a file out of the build: the last line that matches it or a folder above it decides. */
export function openIgnore(text: string): (path: string) => boolean {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const rules = lines.map((line) => {
    const isException = line.startsWith("!");
    const pattern = (isException ? line.slice(1) : line)
      .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("**/", "\0")
      .replaceAll("*", "[^/]*")
      .replaceAll("\0", "(?:.*/)?");
    return { isException, matches: new RegExp(`^${pattern}(?:/|$)`) };
  });
  return (path) => rules.findLast(({ matches }) => matches.test(path))?.isException === false;
}

/** The files of this checkout that the build receives, whether committed or new. */
export function contextFiles(): string[] {
  const list = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  const isIgnored = openIgnore(readFileSync(".dockerignore", "utf8"));
  return list.split("\n").filter((path) => path !== "" && existsSync(path) && !isIgnored(path));
}

/** The name=value pairs of the ENV lines of a stage. */
export function stageEnvironment({ steps }: Stage): Record<string, string> {
  const lines = steps.filter(({ instruction }) => instruction === "ENV");
  return Object.fromEntries(
    lines.flatMap(({ rest }) => [...rest.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])),
  );
}

type Options = {
  /** The folder in which each stage gets a folder of its own. */
  folder: string;
  /** True to link this checkout's packages instead of running `npm ci`. */
  reusePackages: boolean;
  say(line: string): void;
};

/** Executes every step that changes files, and returns the folder of the last stage. Throws with a step's own output. */
export async function executeSteps(
  stages: Stage[],
  { folder, reusePackages, say }: Options,
): Promise<string> {
  const files = contextFiles();
  const rootOf = (name: string) => join(folder, name);
  for (const stage of stages) {
    const root = rootOf(stage.name);
    let workdir = root;
    const at = (path: string) => (path.startsWith("/") ? join(root, path) : join(workdir, path));
    for (const { instruction, rest } of stage.steps) {
      const beganAt = performance.now();
      if (instruction === "WORKDIR") {
        workdir = at(rest);
        mkdirSync(workdir, { recursive: true });
      } else if (instruction === "COPY") copy(rest);
      else if (instruction === "RUN") await run(rest);
      else continue;
      say(`${stage.name}: ${instruction} ${rest} (${((performance.now() - beganAt) / 1000).toFixed(1)} s)`);
    }

    function copy(rest: string) {
      const from = /^--from=(\S+) /.exec(rest)?.[1];
      const paths = rest.replace(/^--from=\S+ /, "").split(" ");
      const target = paths.pop()!;
      for (const path of paths) {
        const isWhole = path === ".";
        const sources = from
          ? [[join(rootOf(from), path), target.endsWith("/") ? join(target, basename(path)) : target]]
          : files
              .filter((file) => isWhole || file === path)
              .map((file) => [file, target.endsWith("/") || isWhole ? join(target, file) : target]);
        if (sources.length === 0) throw new Error(`COPY ${rest}: ${path} is not in the build's context`);
        for (const [source = "", to = ""] of sources) {
          mkdirSync(dirname(at(to)), { recursive: true });
          if (from && statSync(source).isDirectory()) link(source, at(to));
          else cpSync(source, at(to));
        }
      }
    }

    async function run(command: string) {
      if (reusePackages && command.startsWith("npm ci "))
        return link("node_modules", join(workdir, "node_modules"));
      // An absolute path in a command is below the stage's directory.
      const here = command.replaceAll(/(?<=\s)\/(?=\w)/g, `${root}/`);
      const env = { ...process.env, NODE_ENV: "development" } as const; // so that npm leaves out no package
      const done = await runToEnd("sh", ["-ec", here], { cwd: workdir, env });
      if (done.status !== 0) throw new Error(`RUN ${command} failed:\n${done.stdout}${done.stderr}`);
    }
  }
  return rootOf(stages.at(-1)!.name);
}

/** Copies a folder by hard links, because nothing in a finished stage is written in place. */
function link(source: string, target: string) {
  rmSync(target, { recursive: true, force: true });
  execFileSync("cp", ["-al", source, target]);
}

/** Gives a folder to the image's user, if this process may do that. */
export function giveTo(path: string, uid: number) {
  if (process.getuid?.() === 0) chownSync(path, uid, uid);
}
