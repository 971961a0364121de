import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRegistries } from "../generate/registry";
import { writeDecoders } from "./decoders";
import { findFile, writeWhole } from "./files";
import { fingerprint } from "./fingerprint";

const CLIENT = "server/generated/prisma";
const COLUMNS = "server/generated/schema.ts";
const MARK = join(CLIENT, ".schema");

/** Writes all generated files that are not committed. Quick if nothing changed. */
export function generate(): { prisma: boolean; registries: string[] } {
  const registries = [...writeRegistries("."), ...writeClientTypes(), ...writeDecoders()];
  if (!existsSync("next-env.d.ts"))
    // Next writes the same when it builds, but the type check must not wait for that.
    writeFileSync(
      "next-env.d.ts",
      '/// <reference types="next" />\n/// <reference types="next/image-types/global" />\n',
    );
  const schema = fingerprint([
    "prisma/schema",
    "prisma.config.ts",
    "node_modules/prisma/package.json",
    "scripts/launch/columns.mjs",
  ]);
  if (findFile(MARK) === schema && existsSync(join(CLIENT, "client.ts")) && existsSync(COLUMNS))
    return { prisma: false, registries };
  try {
    execFileSync(process.execPath, ["node_modules/prisma/build/index.js", "generate"], {
      // Generating needs no engine, but the command expects one and would try to download it.
      env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    const streams = error as { stdout?: Buffer; stderr?: Buffer }; // execFileSync adds these to its error
    throw new Error(`prisma generate failed:\n${streams.stdout ?? ""}${streams.stderr ?? ""}`.trim());
  }
  writeWhole(MARK, schema, 0o644);
  return { prisma: true, registries };
}

/** Generates the client's types from docs/openapi.json; returns the file's path if it was written. */
function writeClientTypes(): string[] {
  const out = execFileSync(process.execPath, ["clients/typescript/scripts/generate.mjs"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return out.split("\n").filter(Boolean);
}
