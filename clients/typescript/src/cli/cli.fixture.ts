import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { test as each, expect } from "vitest";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";

/*
 * Runs the command as a process against a running server. Starting processes takes most of the time, so tests start them in
 * parallel.
 */

export const test = each.concurrent;

export let folder: string;
export let program: string;
export const FAST = "text.general.fast.v1";

export let tenant: Tenant;
export let server: WebServer;

export async function openService(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "capstan-cli-"));
  program = join(folder, "capstan.mjs");
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  await build({
    entryPoints: ["clients/typescript/src/cli/main.ts"],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    // commander is CommonJS and needs `require`.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "silent",
  });
}

export async function closeService(): Promise<void> {
  await server.stop(1_000);
  rmSync(folder, { recursive: true });
}

type Done = { code: number | null; out: string; error: string };
export type How = {
  env?: Record<string, string>;
  stdin?: string;
  cwd?: string;
  onError?: (text: string) => void;
  onOut?: (text: string) => void;
};

export const capstan = (args: string[], how: How = {}) => execute(process.execPath, [program, ...args], how);

export function execute(command: string, args: string[], how: How): Promise<Done> {
  const { env, stdin = "", cwd = folder, onError, onOut } = how;
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd,
      env: {
        NODE_ENV: "test",
        PATH: process.env.PATH ?? "",
        XDG_CONFIG_HOME: folder,
        CAPSTAN_BASE_URL: server.url,
        CAPSTAN_API_KEY: tenant.key,
        ...env,
      },
    });
    let [out, error] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      onOut?.(out);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      error += text;
      onError?.(error);
    });
    child.stdin.end(stdin);
    child.on("close", (code) => done({ code, out, error }));
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
export type Body = any;

/** The output of a command that succeeds: only JSON, and nothing on standard error. */
export async function answer(args: string[], how: How = {}): Promise<Body> {
  const { code, out, error } = await capstan([...args, "--json"], how);
  expect(error).toBe("");
  expect(code, out).toBe(0);
  return JSON.parse(out);
}

/** The error of a command that fails, as JSON. */
export async function refused(code: number, args: string[], how: How = {}): Promise<Body> {
  const done = await capstan([...args, "--json"], how);
  expect(done.code, done.out).toBe(code);
  expect(`${done.out}${done.error}`).not.toContain(tenant.key.slice(8));
  return JSON.parse(done.out).error;
}
