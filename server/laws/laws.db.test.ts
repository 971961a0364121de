import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openImports, sourceFiles } from "@/scripts/test/imports";
import { COMMON_ERRORS, type Endpoint } from "@/server/api/endpoint";
import { handlers } from "@/server/api/next";
import { router } from "@/server/api/router";
import { capabilities } from "@/server/capabilities/registry.gen";
import { endpoints } from "@/server/operations";
import { ERRORS } from "@/server/platform/errors/errors";
import { importsOf, isWithin, ROOT, sources, textOf, UNITS } from "./sources.fixture";

test("only the files that change a job's row insert events, jobs and receipts", () => {
  const writers = sources.filter((file) =>
    /INSERT INTO event\b|INSERT INTO job \(|INSERT INTO receipt\b/.test(textOf.get(file) ?? ""),
  );
  expect(writers.filter((file) => !file.endsWith(".test.ts"))).toEqual([
    "server/domain/jobs/decisions/select-variant.ts",
    "server/domain/jobs/following/reader.ts",
    "server/domain/jobs/transitions/admission.ts",
    "server/domain/jobs/transitions/answer.ts",
    "server/domain/jobs/transitions/attempt.ts",
    "server/domain/jobs/transitions/claim.ts",
    "server/domain/jobs/transitions/finish.ts",
    "server/domain/jobs/transitions/moves.ts",
    "server/domain/jobs/transitions/set-aside.ts",
  ]);
});

test("an object, an hour and a day are each defined once in the server, except in the verifier, which is copied", () => {
  const OTHERS = /!== null && !Array\.isArray\(|=== null \|\| Array\.isArray\(|\b(86_?400|3_?600_?000)\b/;
  const files = sources.filter((file) => isWithin(file, "server") && OTHERS.test(textOf.get(file) ?? ""));
  expect(files.sort()).toEqual(["server/platform/text/json.ts", `${UNITS}.ts`, "server/verify/json.ts"]);
});

test("no value is cast through unknown, except those listed", () => {
  const users = sources.filter((file) => /\bas unknown as\b/.test(textOf.get(file) ?? ""));
  expect(users.sort()).toEqual(["components/blocks/list/list-state.ts", "server/operations/define.ts"]);
});

test("every error with status 429 requires retryAfterSeconds, and none is made with new Fault, which does not check it", () => {
  const rows = Object.entries(ERRORS).filter(([, { status }]) => status === 429);
  expect(rows.map(([code]) => code)).toContain("DURABLE_CONCURRENCY_LIMIT");
  for (const [code, { details }] of rows) {
    expect(details.safeParse({}).success, code).toBe(false);
    expect(details.safeParse({ retryAfterSeconds: 1 }).success, code).toBe(true);
  }
  const unchecked = new RegExp(`new Fault\\(\\s*"(${rows.map(([code]) => code).join("|")})"`);
  expect(sources.filter((file) => unchecked.test(textOf.get(file) ?? ""))).toEqual([]);
});

test("a test without .db or .isolated in its name imports no database, and none changes settings by hand", () => {
  const { importedBy } = openImports(ROOT);
  const tests = sourceFiles(ROOT).filter((file) => /\.test\.tsx?$/.test(file));
  const pure = tests.filter((file) => !/\.(db|isolated)\.test\.ts$/.test(file));
  expect(pure.length).toBeGreaterThan(100);
  expect(pure.filter((file) => importedBy(file).has("server/platform/db.ts"))).toEqual([]);
  expect(importedBy("server/laws/payers.db.test.ts").has("server/platform/db.ts")).toBe(true); // the law sees imports
  const byHand = /(^|[^.\w])env\.[A-Z_]+ = |Object\.assign\(env,/m;
  expect(tests.filter((file) => byHand.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});

describe("every endpoint has a route file, and every route file an endpoint", () => {
  const ALL_METHODS = "export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(";
  const takesSlashes = new Set<string>(endpoints.filter((each) => each.takesSlashes).map(({ path }) => path));
  const routeFileOf = (path: string) => {
    const named = takesSlashes.has(path) ? path.replace(/\{(\w+)\}$/, "{...$1}") : path;
    return `app${named.replaceAll("{", "[").replaceAll("}", "]")}/route.ts`;
  };
  const byPath = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    byPath.set(endpoint.path, [...(byPath.get(endpoint.path) ?? []), endpoint]);
  }

  test.each([...byPath])("%s has a route file with its methods", (path, methods) => {
    const file = routeFileOf(path);
    expect(existsSync(join(ROOT, file)), `${file} is missing`).toBe(true);
    const text = textOf.get(file) ?? "";
    expect(text).toContain(ALL_METHODS);
    const served =
      /serve\(([^)]*)\)/
        .exec(text)?.[1]
        ?.split(",")
        .map((name) => name.trim())
        .filter(Boolean) ?? [];
    expect(served.length).toBe(methods.length);
  });

  test("no route file serves a path of its own", () => {
    const known = new Set([...byPath.keys()].map(routeFileOf));
    // The catch-all routes answer paths that no endpoint serves.
    const extra = sources.filter((file) => isWithin(file, "app/v1") && !known.has(file));
    expect(extra.sort()).toEqual(["app/v1/[...path]/route.ts", "app/v1/route.ts"]);
  });

  test("a route file allows the same methods as the web process, in the same order", {
    tags: "long",
  }, async () => {
    const web = handlers(router(endpoints));
    for (const path of byPath.keys()) {
      const module: Record<string, (request: Request) => Promise<Response>> = await import(
        join(ROOT, routeFileOf(path))
      );
      const url = `http://127.0.0.1${path.replaceAll(/\{[^}]*\}/g, "x")}`;
      const asked = () => new Request(url, { method: "OPTIONS" });
      const [answer, expected] = [await module.OPTIONS?.(asked()), await web.OPTIONS(asked())];
      expect(answer?.headers.get("allow"), path).toBe(expected.headers.get("allow"));
    }
  });
});

describe("errors", () => {
  test("every error code belongs to an endpoint, to all endpoints or to the listed others", () => {
    // These are codes of the router, of jobs that end with them, of the panel or of webhooks, or codes that
    // nothing throws yet.
    const elsewhere = [
      "MethodNotAllowed",
      "QueueTimeout",
      "Cancelled",
      "InvalidRequest",
      "JobNotInAttention",
      "LastOwner",
      "ApprovalRejected",
      "ApprovalExpired",
      "PRICING_INPUTS_REQUIRED",
    ];
    const listed = new Set<string>([
      ...endpoints.flatMap(({ errors }) => errors),
      ...COMMON_ERRORS,
      ...elsewhere,
    ]);
    expect(Object.keys(ERRORS).filter((code) => !listed.has(code))).toEqual([]);
  });
});

describe("capabilities", () => {
  test.each(capabilities.map((capability) => [capability.key, capability] as const))(
    "%s has a file of its name, and valid examples",
    (key, capability) => {
      expect(existsSync(join(ROOT, `server/capabilities/${key}.ts`)), "the file is named by the key").toBe(
        true,
      );
      for (const example of capability.examples)
        expect(capability.input.safeParse(example.input).success).toBe(true);
    },
  );
});

describe("one writer each", () => {
  test("only a job's transitions write its status", () => {
    const writesStatus = (text: string) =>
      [...text.matchAll(/UPDATE\s+"?job"?\s+SET([\s\S]*?)\bWHERE\b/g)].some(([, set]) =>
        /\bstatus"?\s*=/.test(set ?? ""),
      ) || /\.job\.(update|upsert|create)/.test(text);
    const writers = [...textOf].filter(([, text]) => writesStatus(text)).map(([file]) => file);
    expect(writers).toEqual([
      "server/domain/jobs/transitions/claim.ts",
      "server/domain/jobs/transitions/finish.ts",
      "server/domain/jobs/transitions/moves.ts",
      "server/domain/jobs/transitions/set-aside.ts",
    ]);
  });

  test("only the domain, the reads of tenants, the embedded engine and the processes import the database", () => {
    const users = sources.filter((file) =>
      importsOf(file).some(({ target, isTypeOnly }) => target === "server/platform/db" && !isTypeOnly),
    );
    const processes = ["server/worker.ts", "server/web.ts", "server/worker/periodic-tasks.ts"];
    expect(
      users.filter(
        (file) =>
          !isWithin(file, "server/domain") &&
          !isWithin(file, "inngest/embedded") &&
          !["server/sql/tenant.ts", "server/sql/people.ts"].includes(file) &&
          !processes.includes(file),
      ),
    ).toEqual([]);
  });
});
