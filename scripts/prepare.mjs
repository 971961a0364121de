// Plain JavaScript: this runs on a fresh clone, before anything is installed.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const beganAt = performance.now();
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Changes to the root, installs the packages of package-lock.json, and loads the launcher (TypeScript) of this checkout. */
export async function prepare() {
  process.chdir(root);
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`Capstan needs Node 20.19 or newer; this is ${process.versions.node}.`);
  if (existsSync(".env")) process.loadEnvFile(".env");
  if (!isInstalled()) await install();
  const { build } = await import("esbuild");
  const outfile = resolve("node_modules/.cache/capstan/launcher.mjs");
  await build({
    entryPoints: ["scripts/launch/main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  return import(`${pathToFileURL(outfile)}?${Date.now()}`);
}

// npm writes the list of installed packages last; the install is complete if the list matches the lock file.
function isInstalled() {
  const wanted = packagesOf("package-lock.json");
  const present = packagesOf("node_modules/.package-lock.json");
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional, link }]) =>
      path === "" || link || present[path]?.version === version || (optional && !present[path]),
  );
}

function packagesOf(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : null;
}

async function install() {
  const tty = process.stdout.isTTY;
  process.stdout.write(
    `[${elapsed()}] Installing dependencies, which takes a minute or two …${tty ? "" : "\n"}`,
  );
  const failure = await npmCi();
  if (failure !== null) {
    process.stdout.write("\n");
    const told = failure.split("\n").filter((line) => /^npm error/.test(line));
    throw new Error(
      `npm ci failed. Check that the npm registry is reachable. Output of npm:\n${(told.length > 0 ? told : [failure]).slice(0, 15).join("\n")}`,
    );
  }
  process.stdout.write(tty ? ` done\n` : `[${elapsed()}] Installing dependencies … done\n`);
}

/**
 * Installs exactly the packages of the lock file. Returns null on success, otherwise npm's output. A signal to this process
 * ends npm too.
 */
function npmCi() {
  const args = ["ci", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const options = { env: installEnv(), stdio: ["ignore", "pipe", "pipe"], shell: false };
  const cli = process.env.npm_execpath;
  const child = cli?.endsWith(".js")
    ? spawn(process.execPath, [cli, ...args], options)
    : spawn("npm", args, { ...options, shell: process.platform === "win32" });
  const end = (signal) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, end);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (status) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(signal, end);
      resolve(status === 0 ? null : said);
    });
  });
}

// The build needs the development dependencies as well, whatever NODE_ENV says.
function installEnv() {
  const { NODE_ENV: _, ...rest } = process.env;
  return { ...rest, npm_config_omit: "", npm_config_include: "dev" };
}

function elapsed() {
  return `${((performance.now() - beganAt) / 1000).toFixed(1).padStart(5)}s`;
}

/** Runs a command of the launcher; a failure is one readable message and exit code 1, or 2 if the settings are refused. */
export async function run(command) {
  try {
    const launcher = await prepare();
    await launcher[command](process.argv.slice(2));
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : error}`);
    if (process.env.CAPSTAN_DEBUG && error instanceof Error) console.error(error.stack);
    process.exit(error?.name === "Refusal" ? 2 : 1);
  }
}
