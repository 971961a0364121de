import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { platform } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { findFile, isNodeError } from "./files";

/** True if a process with this id exists (of any user). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isNodeError(error) && error.code === "EPERM";
  }
}

/** A free port: the wanted one if it is free, otherwise any. */
export async function freePort(wanted = 0, host = "127.0.0.1"): Promise<number> {
  if (wanted > 0 && !(await canListen(wanted, host))) return freePort(0, host);
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(wanted, host, () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

/** True if a server could listen here now. */
export function canListen(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** The command line of a process; empty if it cannot be read. */
export function processCommand(pid: number): string {
  const fromProc = platform() === "linux" ? findFile(`/proc/${pid}/cmdline`) : null;
  if (fromProc) return fromProc.replaceAll("\0", " ");
  return spawnSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8" }).stdout ?? "";
}

/** Asks a process to end, and kills it after the grace period. */
export async function endProcess(pid: number, graceMs: number): Promise<void> {
  for (const [signal, patienceMs] of [
    ["SIGTERM", graceMs],
    ["SIGKILL", 5_000],
  ] as const) {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    const deadline = Date.now() + patienceMs;
    while (isAlive(pid) && Date.now() < deadline) await sleep(50);
  }
}
