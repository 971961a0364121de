import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { DOUBLES } from "@/testing/upstreams/loops/doubles";
import { startDoubles } from "@/testing/upstreams/loops/server";
import { runToEnd } from "../launch/ending";
import { findFile } from "../launch/files";
import { BIN, type Count, cleanEnv, runTool } from "./process";
import { startProduct } from "./product";

const FOLDER = "e2e/outside";
const Report = z.object({ passed: z.int(), failed: z.int(), failures: z.array(z.string()) });

/**
 * Runs other people's clients, installed from their own lock file, against the product with the sandbox and doubles of servers.
 * `args` choose some of them.
 */
export async function runOutside(scratch: string, args: string[]): Promise<Count> {
  await install();
  const servers = await startDoubles(DOUBLES);
  try {
    return await runClients(scratch, args, servers.url);
  } finally {
    await servers.stop();
  }
}

async function runClients(scratch: string, args: string[], serversUrl: string): Promise<Count> {
  const dataDir = join(scratch, "outside");
  const reportFile = join(scratch, "outside.json");
  const instance = await startProduct(dataDir, { HOST: "127.0.0.1" });
  try {
    await runTool(
      join(BIN, "tsx"),
      ["--tsconfig", `${FOLDER}/tsconfig.json`, `${FOLDER}/run.ts`, ...args],
      cleanEnv({
        CAPSTAN_BASE_URL: instance.baseUrl.replace("localhost", "127.0.0.1"),
        CAPSTAN_DATA_DIR: dataDir,
        CAPSTAN_OUTSIDE_SERVERS: serversUrl,
        CAPSTAN_OUTSIDE_REPORT: reportFile,
      }),
    );
    return Report.parse(JSON.parse(findFile(reportFile) ?? "null"));
  } finally {
    await instance.stop();
  }
}

/** Installs what the lock file names, unless it is installed already. No installed package runs a script of its own. */
async function install() {
  const lock = readFileSync(`${FOLDER}/package-lock.json`, "utf8");
  const mark = `${FOLDER}/node_modules/.installed-lock.json`;
  if (findFile(mark) === lock) return;
  console.log("Installing other people's clients …");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const { status, stderr } = await runToEnd("npm", args, {
    cwd: FOLDER,
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm ci failed in ${FOLDER}: ${stderr}`);
  writeFileSync(mark, lock);
}
