import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "@playwright/test";
import { type Block, blocksOf, type Page, pageAt, pagesUnder } from "@/testing/docs";
import { admin, unique, world } from "../world";

/*
 * The code blocks of README.md and docs/start that can run here run in order, in one shell per page, as a reader pastes
 * them: in a clone, with CAPSTAN_URL and CAPSTAN_API_KEY set. The clone is a folder of links to this one, and the key
 * belongs to an organization of its own.
 */

const dataDir = resolve(process.env.CAPSTAN_E2E_DATA_DIR ?? process.env.CAPSTAN_DATA_DIR ?? ".data");
const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
let clone: string;
let apiKey: string;

test.beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "capstan-docs-"));
  const own = [".data", ".env", ".git", ".next", "tsconfig.json"];
  for (const name of readdirSync(".").filter((each) => !own.includes(each)))
    symlinkSync(resolve(name), join(clone, name));
  // A reader's project has the client installed as a package.
  const paths = { "@/*": ["./*"], "@capstan/client": ["./clients/typescript/src/index.ts"] };
  writeFileSync(
    join(clone, "tsconfig.json"),
    JSON.stringify({ extends: resolve("tsconfig.json"), compilerOptions: { paths } }),
  );
  mkdirSync(join(clone, ".data"));
  for (const name of ["runtime.json", "secrets.json"])
    symlinkSync(join(dataDir, name), join(clone, ".data", name));
  const { organizationId } = admin("organization", "create", "--name", unique("Readers"));
  const { projectId } = admin("project", "create", "--name", "Website", "--organization", organizationId);
  const key = admin("key", "create", "--project", projectId, "--name", "reader");
  apiKey = key.apiKey;
  const bootstrap = { ...world, organizationId, projectId, apiKey };
  writeFileSync(join(clone, ".data", "bootstrap.json"), JSON.stringify(bootstrap));
  const credit = [
    "--organization",
    organizationId,
    "--amount-micros",
    "20000000",
    "--reason",
    "To read with",
  ];
  admin("wallet", "credit", ...credit, "--test");
});

test.afterAll(() => rmSync(clone, { recursive: true, force: true }));

const SHELL = new Set(["sh", "bash", "shell"]);
const TYPESCRIPT = new Set(["ts", "typescript", "js", "javascript", "mjs"]);
const PYTHON = new Set(["py", "python"]);

/** True for a script of package.json that starts, stops or builds an installation, and for npm's own commands. */
const isLauncher = (script: string) => !(script in scripts) || /^node scripts\//.test(scripts[script]);

/** The reason why a block cannot run here; null if it runs, undefined if its language is not a program. */
function reasonAgainst({ language, code }: Block): string | null | undefined {
  const isShell = SHELL.has(language);
  if (!isShell && !TYPESCRIPT.has(language) && !PYTHON.has(language)) return undefined;
  const commands = code.replaceAll(/(^|\s)(#|\/\/).*$/gm, "");
  if (/…|<[a-z][\w -]*>/.test(commands)) return "has a part to fill in";
  if (isShell) {
    const called = [...commands.matchAll(/npm (?:run (?:-\S+ )*)?([\w:]+)/g)].map(([, name = ""]) => name);
    const launcher = called.find(isLauncher);
    if (launcher) return `npm ${launcher} changes the installation or the clone`;
    const asks = called.length > 0 || /\$\{?[A-Z]|\.data\//.test(commands);
    return asks ? null : "asks the installation nothing";
  }
  if (!/CAPSTAN_|localhost:3000|127\.0\.0\.1:3000/.test(commands)) return "asks the installation nothing";
  return null;
}

/** The packages of a TypeScript block that are not installed here. */
function missingPackages(code: string): string[] {
  const { resolve: find } = createRequire(resolve("package.json"));
  const names = [...code.matchAll(/(?:from|import) "([^".][^"]*)"/g)].map(([, name = ""]) => name);
  return names.filter((name) => {
    if (name === "@capstan/client") return false;
    try {
      return !find(name);
    } catch {
      return true;
    }
  });
}

const FIND_MODULES =
  "import importlib.util, sys; print(*[m for m in sys.argv[1:] if not importlib.util.find_spec(m)])";

/** Runs a command in the clone; returns its exit code and output. */
function run(command: string, args: string[]): Promise<{ code: number | null; said: string }> {
  return new Promise((done, failed) => {
    const { CAPSTAN_DATA_DIR: _, CAPSTAN_E2E_DATA_DIR: __, ...rest } = process.env;
    const env = { ...rest, CAPSTAN_URL: world.baseUrl, CAPSTAN_API_KEY: apiKey };
    const child = spawn(command, args, { cwd: clone, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    child.once("error", failed);
    child.once("close", (code) => done({ code, said }));
  });
}

async function missingModules(code: string): Promise<string[]> {
  const modules = [...code.matchAll(/^\s*(?:import|from) (\w+)/gm)].map(([, name = ""]) => name);
  const found = await run("python3", ["-c", FIND_MODULES, ...modules]).catch(() => null);
  return found ? found.said.split(/\s+/).filter(Boolean) : ["python3"];
}

/** Replaces the local address in a page's code by that of the installation under test. */
const here = (code: string) => code.replaceAll(/http:\/\/(localhost|127\.0\.0\.1):3000/g, world.baseUrl);

/** The error status that a comment of a shell block announces. */
const announced = ({ language, code }: Block) =>
  SHELL.has(language) ? /#.*\b([45]\d\d)\b/.exec(code)?.[1] : undefined;

/** The shell lines of a block. A refused request ends the shell, unless the block announces the status. */
async function toShell(block: Block, name: string): Promise<{ lines: string } | { reason: string }> {
  const reason = reasonAgainst(block);
  if (reason) return { reason };
  const code = here(block.code);
  if (SHELL.has(block.language)) {
    return {
      lines: `FAIL=${announced(block) ? "-w%{stderr}%{http_code}" : "--fail-with-body"}\n${code}`,
    };
  }
  const isPython = PYTHON.has(block.language);
  const missing = isPython ? await missingModules(code) : missingPackages(code);
  if (missing.length > 0) return { reason: `${missing.join(", ")} is not installed` };
  const file = `${name}.${isPython ? "py" : "ts"}`;
  writeFileSync(join(clone, file), code);
  return { lines: `${isPython ? "python3" : "node_modules/.bin/tsx"} ${file}\n` };
}

const MARK = "── ";
const HEAD = `set -euo pipefail
curl() { command curl $FAIL "$@"; }
`;

async function readAlong(page: Page): Promise<void> {
  const parts: string[] = [];
  const refusals: [at: string, status: string][] = [];
  for (const block of blocksOf(page).filter((each) => reasonAgainst(each) !== undefined)) {
    const at = `${page.path}:${block.line}`;
    const shell = await toShell(block, `block-${block.line}`);
    if ("reason" in shell) console.log(`${at} is not run: ${shell.reason}`);
    else {
      parts.push(`echo "${MARK}${at}"\n${shell.lines}`);
      const status = announced(block);
      if (status) refusals.push([at, status]);
    }
  }
  writeFileSync(join(clone, "page.sh"), HEAD + parts.join("\n"));
  const { code, said } = await run("bash", ["page.sh"]);
  expect(code, said.slice(-4_000)).toBe(0);
  for (const [at, status] of refusals) {
    const told = said.split(MARK).find((part) => part.startsWith(`${at}\n`));
    expect(told, `${at} announces a ${status}`).toContain(status);
  }
  console.log(`${page.path}: ${parts.length} blocks ran`);
  if (page.path === "README.md") expect(parts.length).toBeGreaterThan(0);
}

for (const page of [pageAt("README.md"), ...pagesUnder("docs/start")])
  test(`the code blocks of ${page.path} run unchanged`, {
    tag: page.path === "README.md" ? [] : "@long",
  }, async () => {
    test.setTimeout(300_000);
    await readAlong(page);
  });

test("the reason why a block cannot run follows from its code", () => {
  const why = (language: string, code: string) => reasonAgainst({ language, code, line: 1 });
  expect(why("sh", 'curl "$CAPSTAN_URL/v1/models"')).toBe(null);
  expect(why("sh", "npm run admin -- ledger check # all of it …")).toBe(null);
  expect(why("sh", "npm run up -- --detach")).toMatch(/changes the installation/);
  expect(why("sh", "git clone https://example.com/capstan")).toMatch(/asks the installation nothing/);
  expect(why("sh", 'curl "$CAPSTAN_URL/v1/jobs/wfr_…"')).toMatch(/a part to fill in/);
  expect(why("ts", 'import OpenAI from "openai";')).toMatch(/asks the installation nothing/);
  expect(why("json", "{}")).toBe(undefined);
});
