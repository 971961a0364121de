import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
} from "@prisma/driver-adapter-utils";

type Engine = typeof import("@prisma/schema-engine-wasm");

// Once per process: the glue code keeps the memory of a single instance.
let engine: Promise<Engine> | undefined;

// Prisma's schema engine as WebAssembly: the package's own entry needs a bundler, so it is put together here.
async function loadEngine(): Promise<Engine> {
  const glue: Engine & { __wbg_set_wasm(exports: WebAssembly.Exports): void } = await import(
    "@prisma/schema-engine-wasm/schema_engine_bg"
  );
  const file = createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm/schema_engine_bg")
    .replace(/\.js$/, ".wasm");
  const { instance } = await WebAssembly.instantiate(await readFile(file), {
    "./schema_engine_bg.js": Object.fromEntries(Object.entries(glue)), // its exports are the imports of the module
  });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)(); // exported by every wasm-bindgen module
  return glue;
}

/** Computes the SQL from one schema (null: an empty database) to another, without a database. */
export async function diffSchemas(from: string | null, to: string): Promise<string> {
  engine ??= loadEngine();
  const glue = await engine;
  const diffing = await glue.SchemaEngine.new(
    { datamodels: [["schema.prisma", to]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(noDatabase),
  );
  try {
    const { stdout } = await diffing.diff({
      from: from === null ? { tag: "empty" } : asTarget(from),
      to: asTarget(to),
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout ?? "";
  } finally {
    diffing.free();
  }
}

function asTarget(content: string) {
  return { tag: "schemaDatamodel" as const, files: [{ path: "schema.prisma", content }] };
}

/** The engine requires a connection, although a diff of two schemas does not use it. */
const nothing: SqlDriverAdapter = {
  provider: "postgres",
  adapterName: "no-database",
  getConnectionInfo: () => ({ supportsRelationJoins: true }),
  // The engine queries only once, on connecting: whether the schema exists, and the server's version.
  queryRaw: async () => ({
    columnNames: ["exists", "version", "numeric_version"],
    columnTypes: [ColumnTypeEnum.Boolean, ColumnTypeEnum.Text, ColumnTypeEnum.Int32],
    rows: [[true, "PostgreSQL 18.0", 180000]],
  }),
  executeRaw: async () => 0,
  executeScript: async () => {},
  startTransaction: () => Promise.reject(new Error("A diff of two schemas opens no transaction.")),
  dispose: async () => {},
};
const noDatabase = {
  provider: "postgres" as const,
  adapterName: "no-database",
  connect: async () => nothing,
  connectToShadowDb: async () => nothing,
};
