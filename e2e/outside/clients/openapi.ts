import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { GENERATED, type Generator, generate } from "../openapi/generate";
import { call } from "../product";
import { type Row, versionOf, type World } from "../world";

/* Code generated from the installation's document, compiled strictly, and used for a call. */

const PROGRAMS = {
  "openapi-typescript": "openapi-typescript",
  "@hey-api/openapi-ts": "hey-api",
  orval: "orval",
} satisfies Record<Generator, string>;

export function rows(world: World): Row[] {
  return Object.entries(PROGRAMS).map(([client, program]) => ({
    client,
    version: versionOf(client),
    door: "openapi.json",
    checks: {
      async "its output compiles"() {
        await generate(client as Generator, `${world.productUrl}/openapi.json`); // a key of PROGRAMS
        await compile(program);
      },
      async "its output works"() {
        const { ask } = await import(`../openapi/${program}`);
        const jobId: string = await ask(world.baseUrl, world.apiKey, "Tell me of lighthouses.");
        assert.equal((await call(world, `/v1/jobs/${jobId}`)).jobId, jobId);
      },
    },
  }));
}

/** Compiles with TypeScript's `--strict`; a failure has the compiler's output. */
async function compile(program: string) {
  const here = join(GENERATED, "..");
  const options = "--strict --noEmit --target es2022 --module esnext --moduleResolution bundler".split(" ");
  await promisify(execFile)(
    process.execPath,
    ["node_modules/typescript/bin/tsc", ...options, `openapi/${program}.ts`],
    { cwd: here },
  ).catch(({ stdout }: { stdout: string }) => assert.fail(stdout));
}
