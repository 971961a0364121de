import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { startPostgres } from "@/scripts/launch/postgres";
import { applyMigrations } from "@/scripts/migrate/migrations";
import type { FailpointName } from "@/server/platform/settings/failpoint";
import { listen } from "@/testing/listener";
import { startMailServer } from "@/testing/mail-server";
import { startOidcServer } from "@/testing/oidc-server";
import type { Secret, Text } from "./sweep";

/** Random letters and digits that occur nowhere else. */
export const unique = (length = 40) =>
  randomBytes(length).toString("hex").slice(0, length).replace(/^./, "z");

/** A vendor that echoes its key and URL in most answers, and a receiver of webhooks that echoes all headers and the body. */
async function startEcho() {
  const heardKeys = new Set<string>();
  const heard: Text[] = [];
  const busy = new Set<string>();
  const server = await listen((request, body, response) => {
    const isHook = request.url?.startsWith("/hook");
    heard.push({
      where: isHook ? "what a webhook brought" : "what a vendor received",
      text: JSON.stringify([request.url, request.headers, body]),
    });
    heardKeys.add(request.headers.authorization?.replace("Bearer ", "") ?? "");
    const said = JSON.stringify({ authorization: request.headers.authorization, url: request.url });
    const answer = (status: number, json: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
    if (isHook) return void answer(500, { heard: request.headers, body });
    if (body.includes("adapter-weights")) return void answer(422, { detail: `cannot load ${body}` });
    if (request.method === "GET" && !request.headers.authorization?.includes("refused"))
      return void answer(200, { object: "list", data: [] });
    if (request.method === "GET" || body.includes("say it in an error"))
      return void answer(401, { error: { message: `Incorrect API key provided: ${said}`, code: said } });
    if (body.includes("busy at first") && !busy.has(body)) {
      busy.add(body);
      return void answer(429, {
        error: { message: `Too many requests: ${said}`, code: "rate_limit_exceeded" },
      });
    }
    if (body.includes("fall over")) return void response.writeHead(500).end(`<html>${said}</html>`);
    answer(200, {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "gpt-5.6-luna",
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: `I heard ${said}`, annotations: [] }],
        },
      ],
      usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
    });
  });
  return { ...server, heardKeys, heard };
}

export type CanaryHouse = Awaited<ReturnType<typeof openCanaryHouse>>;

/** Starts an installation whose secrets are all unique: database, mail, a vendor, web and worker processes. */
export async function openCanaryHouse() {
  const directory = await mkdtemp(join(tmpdir(), "capstan-canary-"));
  await chmod(directory, 0o711); // the database server may run as another user
  const temporary = join(directory, "tmp");
  const data = join(directory, "data");
  for (const each of [temporary, data]) mkdirSync(each);
  const postgres = await startPostgres({
    dataDir: join(directory, "pg"),
    logFile: join(directory, "postgres.log"),
    disposable: true,
  });
  await applyMigrations(postgres.url);
  const echo = await startEcho();
  const mail = await startMailServer({
    onAuth: ({ username = "" }, _session, done) => done(null, { user: username }),
  });
  const vaultKey = randomBytes(32).toString("base64");
  const mailPassword = unique();
  const settings: Record<string, string> = {
    NEXTAUTH_SECRET: unique(),
    CAPSTAN_VAULT_KEY: vaultKey,
    GITHUB_ID: "github-client",
    GITHUB_SECRET: unique(),
    GOOGLE_CLIENT_ID: "google-client",
    GOOGLE_CLIENT_SECRET: unique(),
    OPENAI_API_KEY: `sk-proj-${unique()}`,
    FAL_API_KEY: unique(),
    HF_TOKEN: `hf_${unique()}`,
    STRIPE_SECRET_KEY: `sk_test_${unique()}`,
    STRIPE_WEBHOOK_SECRET: `whsec_${unique()}`,
    S3_ACCESS_KEY_ID: "s3-client",
    S3_SECRET_ACCESS_KEY: unique(),
    METRICS_TOKEN: unique(),
    INNGEST_SIGNING_KEY: `signkey-${unique()}`,
    OIDC_CLIENT_SECRET: unique(),
  };
  const identities = await startOidcServer(0, {
    id: "canary-house",
    secret: settings.OIDC_CLIENT_SECRET ?? "",
  });
  const environment: Record<string, string> = {
    ...settings,
    DATABASE_URL: postgres.url,
    CAPSTAN_DATA_DIR: data,
    TMPDIR: temporary,
    OPENAI_BASE_URL: `http://127.0.0.1:${echo.port}`,
    OIDC_ISSUER: identities.issuer,
    OIDC_CLIENT_ID: "canary-house",
    FAL_BASE_URL: `http://127.0.0.1:${echo.port}`,
    STRIPE_API_BASE: `http://127.0.0.1:${echo.port}`,
    ALLOW_PRIVATE_ADDRESSES: "1",
    SMTP_URL: `smtp://postbox:${mailPassword}@127.0.0.1:${mail.port}?starttls=never`,
    MAIL_FROM: "Capstan <no-reply@example.com>",
    RATE_LIMIT_KEY_PER_MINUTE: "1000000",
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000000",
  };
  Object.assign(process.env, environment);
  const { migrateEngine } = await import("@/inngest/embedded/migrate");
  await migrateEngine(postgres.url);
  const secrets: Secret[] = [
    ...Object.entries(settings)
      .filter(([name]) => !name.endsWith("_ID"))
      .map(([name, value]) => ({ name, value })),
    { name: "the mail password", value: mailPassword },
    { name: "the database password", value: new URL(postgres.url).password },
  ];

  const children: { child: ChildProcess; name: string; log: string }[] = [];
  /** Starts a process of the product and writes its output to a log file. */
  function start(name: string, program: string, more: Record<string, string> = {}): ChildProcess {
    const log = join(directory, `${name}.log`);
    const child = fork(resolve(program), [], {
      execPath: process.execPath,
      execArgv: ["--import", "tsx"],
      env: { ...process.env, LOG_LEVEL: "trace", ...more },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const to = createWriteStream(log);
    child.stdout?.pipe(to, { end: false });
    child.stderr?.pipe(to, { end: false });
    children.push({ child, name, log });
    return child;
  }
  const web = start("web", "testing/canary/web-process.ts");
  let worker = start("worker", "server/worker.ts");
  const [{ url }] = (await once(web, "message")) as [{ url: string }]; // the message that web-process.ts sends

  /** Starts a web process that dies at this failpoint; returns its URL and a promise of its exit. */
  async function startDying(failpoint: FailpointName) {
    const dying = start(`web until ${failpoint}`, "testing/canary/web-process.ts", {
      CAPSTAN_FAILPOINTS: failpoint,
    });
    const gone = once(dying, "exit");
    const [{ url }] = (await once(dying, "message")) as [{ url: string }]; // the message that web-process.ts sends
    return { url, gone };
  }

  /** Kills the worker at any point of its work. */
  async function killWorker(): Promise<void> {
    const gone = once(worker, "exit");
    worker.kill("SIGKILL");
    await gone;
  }
  /** Starts a new worker. */
  function replaceWorker(): void {
    worker = start("the worker after it", "server/worker.ts");
  }

  /** The command lines of the running processes. */
  const titles = (): Text[] =>
    children.flatMap(({ child, name }) =>
      child.exitCode === null && child.signalCode === null
        ? [
            {
              where: `the command line of ${name}`,
              text: readFileSync(`/proc/${child.pid}/cmdline`, "utf8"),
            },
          ]
        : [],
    );

  async function endProcesses(): Promise<void> {
    await Promise.all(
      [web, worker].map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, "exit");
        child.kill("SIGTERM");
        await gone;
      }),
    );
  }

  /** Every row of every table of every schema as text, with byte columns in hex and decoded. */
  async function rows(): Promise<Text[]> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      const { rows: tables } = await client.query<{ name: string }>(
        `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
         WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
      );
      const texts: Text[] = [];
      for (const { name } of tables) {
        const { rows: found } = await client.query<{ whole: string; row: Record<string, unknown> }>(
          `SELECT t::text AS whole, to_jsonb(t) AS row FROM ${name} t`,
        );
        for (const { whole, row } of found) {
          texts.push({ where: `row of ${name}`, text: whole });
          for (const [column, value] of Object.entries(row))
            if (typeof value === "string" && value.startsWith("\\x"))
              texts.push({
                where: `bytes of ${name}.${column}`,
                text: Buffer.from(value.slice(2), "hex").toString("latin1"),
              });
        }
      }
      return texts;
    } finally {
      await client.end();
    }
  }

  /**
   * All files that the product has written: artifacts, temporary files, and the logs of all processes and of the database.
   */
  const files = (): Text[] =>
    [data, temporary].flatMap(filesIn).concat(
      [
        ...children.map(({ name, log }) => ({ where: `log of ${name}`, path: log })),
        {
          where: "log of postgres",
          path: join(directory, "postgres.log"),
        },
      ].map(({ where, path }) => ({ where, text: readFileSync(path, "latin1") })),
    );

  return {
    url,
    secrets,
    echo,
    mail,
    postgres,
    rows,
    files,
    titles,
    startDying,
    killWorker,
    replaceWorker,
    identities,
    endProcesses,
    async close() {
      await endProcesses();
      const { closeDatabase } = await import("@/server/platform/db");
      await closeDatabase();
      await Promise.all([echo.stop(), mail.stop(), identities.close()]);
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function filesIn(directory: string): Text[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ where: `file ${path.slice(directory.length)}`, text: readFileSync(path, "latin1") }));
}
