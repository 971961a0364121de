import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const FOLDER = resolve("clients/python");
const env = { ...process.env, PYTHONPATH: join(FOLDER, "src"), PYTHONDONTWRITEBYTECODE: "1" };

const isAble = (python: string, modules: string) =>
  spawnSync(python, ["-c", `import ${modules}`], { env }).status === 0;

/** A Python with the packages that the client uses; Debian has python3-httpx and python3-cryptography. */
export const python =
  ["python3", "/usr/bin/python3"].find((each) => isAble(each, "httpx, cryptography")) ?? null;

/** A Python with mypy. */
export const mypy = ["python3", "/usr/bin/python3"].find((each) => isAble(each, "httpx, mypy")) ?? null;

export function runPython(program: string, args: string[], input = "") {
  return spawnSync(program, args, { cwd: FOLDER, env, input, encoding: "utf8", maxBuffer: 1e8 });
}

/** The answers of tests/answers.py to these questions. */
export function ask<T>(questions: unknown[][]): T[] {
  const input = questions.map((question) => `${JSON.stringify(question)}\n`).join("");
  const { stdout, stderr, status } = runPython(python ?? "", ["tests/answers.py"], input);
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
