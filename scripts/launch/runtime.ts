import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { findFile, writeWhole } from "./files";
import { endProcess, isAlive, processCommand } from "./system";

/** The running installation of a data directory, in `runtime.json`: for the admin command, for stopping, and for the next start. */
export const Runtime = z.object({
  baseUrl: z.string(),
  databaseUrl: z.string(),
  sandboxUrl: z.string().nullable(),
  pids: z.object({ supervisor: z.int() }).catchall(z.int()),
});
export type Runtime = z.output<typeof Runtime>;

const fileOf = (dataDir: string) => join(dataDir, "runtime.json");
/** The pattern of our processes' command lines, because a process id may have been reused. */
const OURS = /scripts\/up\.mjs|lifeline\.mjs/;

export function writeRuntime(dataDir: string, runtime: Runtime) {
  writeWhole(fileOf(dataDir), `${JSON.stringify(runtime, null, 2)}\n`);
}

export function removeRuntime(dataDir: string) {
  rmSync(fileOf(dataDir), { force: true });
}

/** The file's content; null if it does not exist or cannot be read. */
export function findRuntime(dataDir: string): Runtime | null {
  try {
    return Runtime.parse(JSON.parse(findFile(fileOf(dataDir)) ?? "null"));
  } catch {
    return null;
  }
}

/** The running installation of a data directory, or null. */
export function findRunning(dataDir: string): Runtime | null {
  const runtime = findRuntime(dataDir);
  return runtime && isOurs(runtime.pids.supervisor) ? runtime : null;
}

/** Ends the processes left over from a killed supervisor, except PostgreSQL; returns their number. */
export async function endLeftovers(dataDir: string): Promise<number> {
  const { supervisor: _, postgres: __, ...pids } = findRuntime(dataDir)?.pids ?? { supervisor: 0 };
  const left = Object.values(pids).filter(isOurs);
  await Promise.all(left.map((pid) => endProcess(pid, 10_000)));
  return left.length;
}

function isOurs(pid: number | undefined): boolean {
  return pid !== undefined && isAlive(pid) && OURS.test(processCommand(pid));
}
