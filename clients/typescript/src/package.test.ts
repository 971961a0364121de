import { execFile, execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

/* The package as somebody else installs it: packed, unpacked in a folder of its own, compiled and run by Node alone. */

const folder = mkdtempSync(join(tmpdir(), "capstan-package-"));
const home = join(folder, "node_modules/@capstan/client");
const execFileAsync = promisify(execFile);
const modules = resolve("node_modules");
const run = (program: string, args: string[]) =>
  execFileSync(process.execPath, [program, ...args], { cwd: folder, encoding: "utf8" });

beforeAll(() => {
  const options = { cwd: "clients/typescript", encoding: "utf8" } as const;
  execFileSync("npm", ["pack", "--loglevel=error", "--pack-destination", folder], options);
  const [packed] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, packed!), "-C", home, "--strip-components=1"]);
  for (const name of ["openapi-fetch", "openapi-typescript-helpers", "commander", "@types"])
    symlinkSync(join(modules, name), join(folder, "node_modules", name));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

test("it holds what it needs and nothing of the service but the rule that verifies", () => {
  const { dependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const ours = JSON.parse(readFileSync("package.json", "utf8")).devDependencies;
  for (const [name, version] of Object.entries(dependencies)) expect(ours[name]).toBe(version);
  const code = ["index.js", "verify.js", "cli.js"].map((name) =>
    readFileSync(join(home, "dist", name), "utf8"),
  );
  const imported = code.flatMap((text) =>
    [...text.matchAll(/^(?:import|export)[^;]*?from "([^"]+)"/gm)].map(([, name]) => name!),
  );
  const packages = imported.filter((name) => !/^(\.|node:)/.test(name));
  expect([...new Set(packages)].sort()).toEqual(Object.keys(dependencies).sort());
  expect(code.join("")).not.toMatch(/prisma|DATABASE_URL|next-auth/);
});

test("it compiles for Node and for bundlers, and wrong calls do not", async () => {
  const right = `import { createClient, type Run } from "@capstan/client";
import { verifyText } from "@capstan/client/verify";
const client = createClient({ baseUrl: "http://localhost:3000", apiKey: "cap_x" });
export const run: Promise<Run<{ content: string }>> = client.runAndWait("text.general.fast.v1", {});
export const status: Promise<"queued" | "running" | string> = client
  .get("/v1/jobs/{job_id}", { params: { path: { job_id: "wfr_1" } } })
  .then((job) => job.status);
export const verified: Promise<boolean> = verifyText("{}", { keys: [] }).then((found) => found.verified);
`;
  writeFileSync(join(folder, "right.ts"), right);
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const calls = [
    'client.get("/v1/jobs/{job_id}")',
    'client.get("/v1/nothing")',
    'client.post("/v1/jobs/{job_id}/receipt", { params: { path: { job_id: "wfr_1" } } })',
    'const wrong: Promise<number> = client.get("/v1/jobs").then((page) => page.items[0]!.jobId)',
  ];
  const lines = right.split("\n").length;
  writeFileSync(join(folder, "wrong.ts"), `${right}\n${calls.join(";\n")};\nexport { wrong };\n`);
  const [bundler, node] = await Promise.all([
    compile(["right.ts", "--module", "esnext", "--moduleResolution", "bundler"]),
    compile(["right.ts", "wrong.ts", "--module", "nodenext"]),
  ]);
  expect(bundler).toBe("");
  const places = [...node.matchAll(/^(\S+?)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`);
  expect([...new Set(places)]).toEqual(calls.map((_, at) => `wrong.ts:${lines + 1 + at}`));
});

/** What the compiler finds fault with. */
async function compile(args: string[]): Promise<string> {
  const compiler = join(modules, "typescript/bin/tsc");
  const all = [compiler, ...args, "--noEmit", "--strict", "--target", "es2023"];
  const { stdout } = await execFileAsync(process.execPath, all, { cwd: folder }).catch(
    (error: { stdout: string }) => error, // it exits with the number of a fault
  );
  return stdout;
}

test("it runs: the client as a module, the command by its name", () => {
  writeFileSync(
    join(folder, "use.mjs"),
    `import { createClient, CapstanError } from "@capstan/client";
import { verifyDocument } from "@capstan/client/verify";
const error = await createClient({ baseUrl: "http://127.0.0.1:1", retry: { attempts: 1 } }).get("/v1/capabilities").catch((cause) => cause);
console.log(error instanceof CapstanError, error.code, (await verifyDocument({}, { keys: [] })).verified);`,
  );
  expect(run("use.mjs", [])).toBe("true Unreachable false\n");
  expect(run(join(home, "dist/cli.js"), ["--version"])).toMatch(/^\d+\.\d+\.\d+\n$/);
});
