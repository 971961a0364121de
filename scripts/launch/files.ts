import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";

/** Writes a file whole or not at all: readers see the old or the new content. */
export function writeWhole(path: string, content: string, mode = 0o600) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, path);
}

/** The content of a file, or null when there is none. */
export function findFile(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isNodeError(error) && error.code === "ENOENT") return null;
    throw error;
  }
}

export function isNodeError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error;
}

/** Is there a process with this id (of any user)? */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isNodeError(error) && error.code === "EPERM";
  }
}

/** A port nobody listens on: the wanted one when it is free, else any. */
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

/** Could a server listen here now? */
export function canListen(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
