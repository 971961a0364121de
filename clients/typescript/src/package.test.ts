import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";

/* Tests the package as others install it: packed, then installed by npm without a registry in an empty folder. */

const folder = mkdtempSync(join(tmpdir(), "capstan-package-"));
const home = join(folder, "node_modules/@capstan/client");
const execFileAsync = promisify(execFile);
const run = (program: string, args: string[]) =>
  execFileSync(process.execPath, [program, ...args], { cwd: folder, encoding: "utf8" });
const npm = (name: string, args: string[], cwd: string) =>
  execFileSync(name, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, npm_config_cache: join(folder, "cache"), npm_config_loglevel: "error" },
  });
let packed = "";

beforeAll(() => {
  npm("npm", ["pack", "--pack-destination", folder], "clients/typescript");
  packed = `./${readdirSync(folder).find((name) => name.endsWith(".tgz"))}`;
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  npm("npm", ["install", "--offline", "--no-audit", "--no-fund", packed], folder);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

const filesIn = (path: string) => readdirSync(path, { recursive: true, encoding: "utf8" });

test("the package contains its README and licences, and needs no other package", () => {
  expect(readFileSync(join(home, "LICENSE"), "utf8")).toBe(readFileSync("LICENSE", "utf8"));
  expect(readFileSync(join(home, "README.md"), "utf8")).not.toMatch(/\]\(\.\.?\//);
  const own = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  expect(own.dependencies).toBeUndefined();
  expect(own.version).toBe(JSON.parse(readFileSync("package.json", "utf8")).version);
  expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
    "@capstan",
  ]);
  const files = filesIn(join(home, "dist")).filter((name) => /\.(js|d\.ts)$/.test(name));
  const texts = new Map(files.map((name) => [name, readFileSync(join(home, "dist", name), "utf8")]));
  const foreign = [...texts].flatMap(([name, text]) =>
    [...text.matchAll(/^(?:import|export)\b[^;'"]*? from ["']([^"']+)["']|\bimport\(["']([^"']+)["']\)/gm)]
      .map(([, from, of]) => from ?? of!)
      .filter((from) => !/^(\.|node:)/.test(from))
      .map((from) => `${name}: ${from}`),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(foreign).toEqual([]);
  for (const name of ["commander", "openapi-fetch", "openapi-typescript-helpers"])
    expect(readFileSync(join(home, "dist/licences.txt"), "utf8")).toContain(`${name} `);
  expect([...texts.values()].join("")).not.toMatch(/prisma|DATABASE_URL|next-auth/);
});

test("the modules that a program can load are less than 25 KB gzipped in total", () => {
  const code = filesIn(join(home, "dist")).filter((name) => /^[^/]*\.js$/.test(name) && name !== "cli.js");
  const ofModule = code.map((name) => gzipSync(readFileSync(join(home, "dist", name))).byteLength);
  expect(ofModule.length).toBeGreaterThan(1);
  expect(ofModule.reduce((sum, size) => sum + size)).toBeLessThan(25_000);
  expect(gzipSync(readFileSync(join(home, "dist/cjs/index.js"))).byteLength).toBeLessThan(25_000);
});

test("the package compiles for Node, as both kinds of module, and for bundlers, and wrong calls do not compile", {
  tags: "long",
}, async () => {
  const right = `import { createClient, type Run, type WebhookEvent, verifyWebhook } from "@capstan/client";
import { verifyText } from "@capstan/client/verify";
const client = createClient({ baseUrl: "http://localhost:3000", apiKey: "cap_x" });
export const run: Promise<Run<{ content: string }>> = client.runAndWait("text.general.fast.v1", {});
export const status: Promise<"queued" | "running" | string> = client
  .get("/v1/jobs/{job_id}", { params: { path: { job_id: "wfr_1" } } })
  .then((job) => job.status);
export const verified: Promise<boolean> = verifyText("{}", { keys: [] }).then((found) => found.verified);
export const event: Promise<WebhookEvent> = verifyWebhook({ body: "", headers: {}, secret: "s" });
`;
  const calls = [
    'client.get("/v1/jobs/{job_id}")',
    'client.get("/v1/nothing")',
    'client.post("/v1/jobs/{job_id}/receipt", { params: { path: { job_id: "wfr_1" } } })',
    'const wrong: Promise<number> = client.get("/v1/jobs").then((page) => page.items[0]!.jobId)',
  ];
  const lines = right.split("\n").length;
  const wrong = `${right}\n${calls.join(";\n")};\nexport { wrong };\n`;
  for (const [name, text] of Object.entries({ right, wrong })) {
    writeFileSync(join(folder, `${name}.ts`), text);
    writeFileSync(join(folder, `${name}.cts`), text);
  }
  const [bundler, node] = await Promise.all([
    compile(["right.ts", "--module", "esnext", "--moduleResolution", "bundler"]),
    compile(["right.ts", "right.cts", "wrong.ts", "wrong.cts", "--module", "node16"]),
  ]);
  expect(bundler).toBe("");
  const places = [...node.matchAll(/^(\S+?)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`);
  const wanted = calls.map((_, at) => lines + 1 + at);
  expect(new Set(places)).toEqual(
    new Set(["wrong.ts", "wrong.cts"].flatMap((file) => wanted.map((line) => `${file}:${line}`))),
  );
});

/** The compiler's errors. */
async function compile(args: string[]): Promise<string> {
  const compiler = resolve("node_modules/typescript/bin/tsc");
  const all = [compiler, ...args, "--noEmit", "--strict", "--target", "es2023", "--types", ""];
  const { stdout } = await execFileAsync(process.execPath, all, { cwd: folder }).catch(
    (error: { stdout: string }) => error, // the compiler exits with an error code
  );
  return stdout;
}

const PROGRAM = `const main = async () => {
  const error = await createClient({ baseUrl: "http://127.0.0.1:1", retry: { attempts: 1 } }).get("/v1/capabilities").catch((cause) => cause);
  console.log(error instanceof CapstanError, error.code, (await verifyDocument({}, { keys: [] })).verified);
};
main();`;

test("the package runs as both kinds of module", () => {
  const names = {
    "@capstan/client": "createClient, CapstanError",
    "@capstan/client/verify": "verifyDocument",
  };
  const imports = Object.entries(names);
  writeFileSync(
    join(folder, "use.mjs"),
    imports.map(([from, list]) => `import { ${list} } from "${from}";\n`).join("") + PROGRAM,
  );
  writeFileSync(
    join(folder, "use.cjs"),
    imports.map(([from, list]) => `const { ${list} } = require("${from}");\n`).join("") + PROGRAM,
  );
  expect(run("use.mjs", [])).toBe("true Unreachable false\n");
  expect(run("use.cjs", [])).toBe("true Unreachable false\n");
});

test("the command runs from the installed package, and from the packed file without installing it", {
  tags: "long",
}, () => {
  expect(run(join(home, "dist/cli.js"), ["--version"])).toMatch(/^\d+\.\d+\.\d+\n$/);
  const empty = mkdtempSync(join(tmpdir(), "capstan-npx-"));
  cpSync(join(folder, packed), join(empty, packed));
  const help = npm("npx", ["--offline", "--yes", packed, "capabilities", "--help"], empty);
  rmSync(empty, { recursive: true });
  expect(help).toContain("Usage: capstan capabilities");
});
