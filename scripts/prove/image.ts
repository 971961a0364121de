import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { endWithChildren } from "../launch/ending";
import { startPostgres } from "../launch/postgres";
import { freePort } from "../launch/system";
import { executeSteps, giveTo, readStages, stageEnvironment } from "./image-steps";
import { type FigureCheck, report, until } from "./installation";

/*
 * npm run prove:image [-- --reuse-packages] runs the Dockerfile without a container engine. Its steps run in plain directories;
 * then the image's own entry point starts migrate, admin, sandbox, web and worker. If root on Linux can make namespaces, each
 * runs as the image's user and as process 1 of a namespace whose file system is read-only except for the data volume and /tmp;
 * elsewhere the image's files lose their write permission. Exits with the number of figures that are not as expected.
 */

const { values } = parseArgs({ options: { "reuse-packages": { type: "boolean" } } });
const FOLDER = mkdtempSync("/var/tmp/capstan-image-");
chmodSync(FOLDER, 0o755);
const hasNamespaces =
  process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "--pid", "--fork", "true"]).status === 0;
const say = (line: string) => console.log(line);

const stages = readStages(readFileSync("Dockerfile", "utf8"));
const image = stages.at(-1)!;
const lineOf = (instruction: string) => {
  const step = image.steps.findLast((each) => each.instruction === instruction);
  if (!step) throw new Error(`The image has no ${instruction}`);
  return step.rest;
};
const [uid = 0] = lineOf("USER").split(":").map(Number);
const words = z.array(z.string());
const entry = words.parse(JSON.parse(lineOf("ENTRYPOINT")));
const health = words.parse(JSON.parse(/CMD (\[.*\])$/.exec(lineOf("HEALTHCHECK"))![1]!));

const figures: FigureCheck[] = [];
const running = new Set<ChildProcess>();
endWithChildren();
process.once("exit", () => {
  rmSync(FOLDER, { recursive: true, force: true });
});

const root = await executeSteps(stages, {
  folder: FOLDER,
  reusePackages: values["reuse-packages"] ?? false,
  say,
});
const app = join(root, lineOf("WORKDIR"));
const data = join(root, lineOf("VOLUME"));
const database = join(FOLDER, "database");
mkdirSync(database);
if (!hasNamespaces) execFileSync("chmod", ["-R", "a-w", app]);

const postgres = await startPostgres({
  dataDir: database,
  logFile: join(database, "postgres.log"),
  disposable: true,
});
const sandboxPort = await freePort();
const settings = {
  ...stageEnvironment(image),
  CAPSTAN_DATA_DIR: data,
  HOST: "127.0.0.1",
  PUBLIC_URL: "https://capstan.example.com",
  NEXTAUTH_SECRET: randomBytes(48).toString("base64"),
  CAPSTAN_VAULT_KEY: randomBytes(32).toString("base64"),
  DATABASE_URL: postgres.url,
  SANDBOX: "1",
  SANDBOX_PORT: String(sandboxPort),
  SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
};

/** Runs a program as process 1 in a file system that is read-only except for the data volume and /tmp. */
const CONFINED = `mount --bind "$DATA" "$DATA" && mount -t tmpfs tmpfs /tmp && mount -o remount,bind,ro / &&
  exec setpriv --reuid ${uid} --regid ${uid} --clear-groups --no-new-privs --bounding-set=-all "$@"`;

/** Starts the image's entry point with these arguments; with namespaces, confined and as the image's user. */
function start(args: string[], port = 0): ChildProcess {
  const command = [process.execPath, ...entry.slice(1), ...args];
  const confined = ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", CONFINED, "sh", ...command];
  const [program = "", ...rest] = hasNamespaces ? ["unshare", ...confined] : command;
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    DATA: data,
    ...settings,
    NODE_ENV: "production",
    PORT: String(port),
    WORKER_PORT: String(port),
  };
  const child = spawn(program, rest, { cwd: app, env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

function outputOf(child: ChildProcess) {
  const output = { out: "", error: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output.error += text;
  });
  return output;
}

async function command(...args: string[]): Promise<string> {
  const child = start(args);
  const output = outputOf(child);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}:\n${output.out}${output.error}`);
  return output.out;
}
const admin = async (...args: string[]) => JSON.parse(await command("admin", ...args, "--json"));

/** Sends the signal to process 1 of the namespace, as a container engine does; unshare would not pass it on. */
function signal(child: ChildProcess, name: NodeJS.Signals) {
  if (!hasNamespaces) return void child.kill(name);
  const inner = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
  if (inner) process.kill(Number(inner), name);
}

try {
  giveTo(data, uid);
  figures.push([
    "migrations applied to an empty database",
    (await command("migrate", "apply")).split(",").length,
    "any",
  ]);
  const isIdle = (await command("migrate", "apply")) === "Nothing to apply.\n";
  figures.push(["migrate applies nothing the second time (1: yes)", Number(isIdle), 1]);
  const { organizationId } = await admin("organization", "create", "--name", "Image");
  const { projectId } = await admin("project", "create", "--name", "Image", "--organization", organizationId);
  const { apiKey } = await admin("key", "create", "--project", projectId, "--name", "image");

  const sandbox = outputOf(start(["sandbox"]));
  const parts = [];
  for (const name of ["web", "worker"]) {
    const port = await freePort();
    const child = start([name], port);
    const output = outputOf(child);
    const isHealthy = async () =>
      spawnSync(process.execPath, health.slice(1), { env: { NODE_ENV: "production", PORT: String(port) } })
        .status === 0;
    await until(async () => child.exitCode !== null || (await isHealthy()), 60_000);
    if (child.exitCode !== null) throw new Error(`${name} ended:\n${output.out}${output.error}`);
    parts.push({ name, port, child, output });
  }
  figures.push(["processes whose health check passes", parts.length, 2]);

  const url = `http://127.0.0.1:${parts[0]!.port}`;
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const submitted = await fetch(`${url}/v1/capabilities/text.general.fast.v1/jobs`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      context: { projectId },
      input: { messages: [{ role: "user", content: "What is a capstan?" }], maxOutputTokens: 100 },
      execution: { executionConstraints: { providerPin: "sandbox" } },
      idempotencyKey: randomUUID(),
    }),
  });
  if (!submitted.ok) throw new Error(`The job was refused: ${await submitted.text()}`);
  const job = z.object({ jobId: z.string() }).parse(await submitted.json());
  let status = "";
  await until(async () => {
    const answer = await fetch(`${url}/v1/jobs/${job.jobId}`, { headers });
    ({ status } = z.object({ status: z.string() }).parse(await answer.json()));
    return !["queued", "running"].includes(status);
  }, 60_000);
  if (status !== "succeeded") {
    for (const { out, error } of [sandbox, ...parts.map(({ output }) => output)])
      say(`${out}${error}`.slice(-4000));
  }
  figures.push([
    `job that web accepted and the worker finished: ${status} (1: succeeded)`,
    Number(status === "succeeded"),
    1,
  ]);
  figures.push(["page of the panel, HTTP status", (await fetch(`${url}/sign-in`)).status, 200]);

  for (const { name, child, output } of parts) {
    const ended = once(child, "close");
    signal(child, "SIGTERM");
    const [code] = await ended;
    figures.push([`exit code of ${name} after SIGTERM`, Number(code), 0]);
    figures.push([
      `${name}: complaints about read-only files`,
      output.error.match(/EROFS|EACCES/g)?.length ?? 0,
      0,
    ]);
  }
  say(
    hasNamespaces
      ? "Process 1, read-only root, user 1000, no capabilities."
      : "Write permission removed; no namespaces.",
  );
} finally {
  // The sandbox still runs, and would keep this process alive.
  for (const child of running) signal(child, "SIGKILL");
  await postgres.stop();
}
process.exitCode = report(figures);
