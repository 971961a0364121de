import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { openImports, sourceFiles } from "@/scripts/test/imports";
import { COMMON_ERRORS, type Endpoint } from "@/server/api/endpoint";
import { handlers } from "@/server/api/next";
import { router } from "@/server/api/router";
import { capabilities } from "@/server/capabilities/registry.gen";
import { endpoints } from "@/server/operations";
import { ERRORS } from "@/server/platform/errors/errors";

const ROOT = resolve(import.meta.dirname, "../..");
const SKIPPED = new Set(["node_modules", "generated", "dist", ".next", ".data", ".git", "bench", "oracle"]);

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesUnder(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const isTest = (file: string) =>
  /\.test\.tsx?$|\.fixture\.ts$|\.contract\.ts$|\/fixtures\/|\/test\/(?!route\.ts$)/.test(file);
const sources = ["app", "components", "inngest", "server"]
  .flatMap(filesUnder)
  .filter((file) => !isTest(file));
const textOf = new Map(sources.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));

/** What a file imports, as paths from the root without extension; packages keep their names. */
function importsOf(file: string): { target: string; isTypeOnly: boolean }[] {
  const found = [
    ...(textOf.get(file) ?? "").matchAll(/^\s*(import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"/gm),
  ];
  return found.map(([, , type, from]) => ({
    target: targetOf(file, from ?? ""),
    isTypeOnly: type !== undefined,
  }));
}

function targetOf(file: string, from: string): string {
  if (from.startsWith("@/")) return from.slice(2);
  return from.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(file), from)) : from;
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** Every import of files in a folder that goes where it must not. */
function strays(
  folder: string,
  isForbidden: (target: string, file: string, isTypeOnly: boolean) => boolean,
): string[] {
  return sources
    .filter((file) => isWithin(file, folder))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ target, isTypeOnly }) => isForbidden(target, file, isTypeOnly))
        .map(({ target }) => `${file} imports ${target}`),
    );
}

const isOurs = (target: string) => /^(server|app|components|inngest|prisma|scripts)\//.test(target);
const UNITS = "server/platform/time/units";
/** What would serve another product as well, but for the database; and the words of the interface for families of models. */
const isLeaf = (target: string) =>
  (isWithin(target, "server/platform") && target !== "server/platform/db") ||
  target === "server/contract/model-families";

test("events are written only by the statements that change a job's row, which their table relies on", () => {
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

test("what an object is, an hour and a day are each defined once in the server, but for the verifier that is copied", () => {
  const OTHERS = /!== null && !Array\.isArray\(|=== null \|\| Array\.isArray\(|\b(86_?400|3_?600_?000)\b/;
  const files = sources.filter((file) => isWithin(file, "server") && OTHERS.test(textOf.get(file) ?? ""));
  expect(files.sort()).toEqual(["server/platform/text/json.ts", `${UNITS}.ts`, "server/verify/json.ts"]);
});

test("no value is cast through unknown, but for those listed", () => {
  const users = sources.filter((file) => /\bas unknown as\b/.test(textOf.get(file) ?? ""));
  expect(users.sort()).toEqual(["components/blocks/list/list-state.ts", "server/operations/define.ts"]);
});

test("every 429 says when to come again: its row demands the seconds, and it is raised where that is compiled", () => {
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
  expect(importedBy("server/laws/payers.db.test.ts").has("server/platform/db.ts")).toBe(true); // it does see
  const byHand = /(^|[^.\w])env\.[A-Z_]+ = |Object\.assign\(env,/m;
  expect(tests.filter((file) => byHand.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});

describe("imports flow one way", () => {
  test("the laws see what a file imports", () => {
    const seen = importsOf("server/operations/jobs.ts").map(({ target }) => target);
    expect(seen).toContain("server/domain/jobs");
    expect(seen).toContain("server/contract/jobs");
  });

  test("the contract knows zod, itself and how long a day is, so that it runs in a browser", () => {
    expect(
      strays(
        "server/contract",
        (target) => target !== "zod" && !isWithin(target, "server/contract") && target !== UNITS,
      ),
    ).toEqual([]);
  });

  test("the platform knows nothing of the product", () => {
    const declarations = ["server/generated/prisma/client", "package.json"];
    expect(
      strays("server/platform", (target) => {
        const isItsOwn = isWithin(target, "server/platform") || declarations.includes(target);
        return !isItsOwn && (isOurs(target) || target === "package.json");
      }),
    ).toEqual([]);
  });

  test("a provider knows its vendor and its port, not our product", () => {
    const allowed = (target: string) => isWithin(target, "server/providers") || isLeaf(target);
    const product = [
      "server/contract",
      "server/domain",
      "server/platform/db",
      "server/capabilities",
      "server/api",
      "server/operations",
      "server/trpc",
    ];
    expect(
      strays(
        "server/providers",
        (target) => !allowed(target) && product.some((each) => isWithin(target, each)),
      ),
    ).toEqual([]);
    expect(
      strays(
        "server/providers",
        (target) =>
          isWithin(target, "app") ||
          isWithin(target, "components") ||
          (isWithin(target, "inngest") && !allowed(target)),
      ),
    ).toEqual([]);
  });

  test("a way to pay knows its vendor and its port, not our product", () => {
    const allowed = (target: string) =>
      !isOurs(target) || isWithin(target, "server/payments") || isLeaf(target);
    expect(strays("server/payments", (target) => !allowed(target))).toEqual([]);
    const users = sources.filter((file) => importsOf(file).some(({ target }) => target === "stripe"));
    expect(users).toEqual(["server/payments/stripe.ts"]);
  });

  test("requests leave through one client, which knows nothing of the product", () => {
    const allowed = (target: string) =>
      !isOurs(target) || isWithin(target, "server/platform/http") || isLeaf(target);
    expect(strays("server/platform/http", (target) => !allowed(target))).toEqual([]);
    const isClient = (target: string) => ["undici", "node:http2", "node-fetch", "axios"].includes(target);
    const users = sources.filter((file) =>
      importsOf(file).some(({ target, isTypeOnly }) => isClient(target) && !isTypeOnly),
    );
    expect(users.filter((file) => !isWithin(file, "server/platform/http"))).toEqual([]);
    const pastTheDoor = sources.flatMap((file) =>
      importsOf(file)
        .filter(({ target }) => isWithin(target, "server/platform/http") && target !== "server/platform/http")
        .filter(() => !isWithin(file, "server/platform/http"))
        .map(({ target }) => `${file} imports ${target}`),
    );
    expect(pastTheDoor).toEqual([]);
  });

  test("a source of weights knows where they lie, not our product", () => {
    const own = ["server/model-sources", "server/platform/http", "server/compute/safetensors"];
    const allowed = (target: string) =>
      !isOurs(target) || own.some((each) => isWithin(target, each)) || isLeaf(target);
    expect(strays("server/model-sources", (target) => !allowed(target))).toEqual([]);
  });

  test("computation knows formats and nothing of the product", () => {
    const isItsOwn = (target: string) => isWithin(target, "server/compute");
    expect(sources.filter(isItsOwn).length).toBeGreaterThan(60);
    expect(
      strays("server/compute", (target) => {
        const isShared =
          target === "server/contract/geometry" ||
          /^server\/platform\/(durable|threads|time|text)\//.test(target);
        return isOurs(target) && !isItsOwn(target) && !isShared;
      }),
    ).toEqual([]);
    const users = sources.filter((file) =>
      importsOf(file).some(({ target }) => target.startsWith("server/compute/safetensors/")),
    );
    expect(users.filter((file) => !isWithin(file, "server/compute/safetensors"))).toEqual([]); // through its index
  });

  test("the client and its command take from the service only what runs without it", () => {
    const shared = ["server/verify", "server/contract/cli", "scripts/verify/command"];
    const taken = filesUnder("clients")
      .filter((file) => !isTest(file))
      .flatMap((file) =>
        [...readFileSync(join(ROOT, file), "utf8").matchAll(/from\s+"([^"]+)"/g)]
          .map(([, from]) => targetOf(file, from ?? ""))
          .filter((target) => isOurs(target)),
      );
    expect([...new Set(taken)].sort()).toEqual([...shared].sort());
  });

  test("mail is sent by one file, which knows its protocol and not our product", () => {
    const allowed = (target: string) => !isOurs(target) || isWithin(target, "server/mail") || isLeaf(target);
    expect(strays("server/mail", (target) => !allowed(target))).toEqual([]);
    const users = sources.filter((file) => importsOf(file).some(({ target }) => target === "nodemailer"));
    expect(users).toEqual(["server/mail/smtp.ts"]);
  });

  test("a capability names no provider, no database and nothing above it", () => {
    const forbidden = [
      "server/domain",
      "server/platform/db",
      "server/api",
      "server/operations",
      "server/trpc",
      "inngest",
      "app",
      "components",
    ];
    const isNamedProvider = (target: string) =>
      isWithin(target, "server/providers") && target !== "server/providers/define";
    expect(
      strays(
        "server/capabilities",
        (target) => forbidden.some((each) => isWithin(target, each)) || isNamedProvider(target),
      ),
    ).toEqual([]);
  });

  test("the domain knows no HTTP, no tRPC, no React and no Next", () => {
    const forbidden = [
      "server/api",
      "server/operations",
      "server/trpc",
      "server/web",
      "server/auth",
      "app",
      "components",
      "next",
      "next-auth",
      "react",
      "inngest/functions",
      "inngest/embedded",
    ];
    expect(
      strays(
        "server/domain",
        (target) => forbidden.some((each) => isWithin(target, each)) || target.startsWith("@trpc/"),
      ),
    ).toEqual([]);
    const speaksHttp = sources.filter(
      (file) =>
        isWithin(file, "server/domain") &&
        /\bnew (Request|Response)\(|: (Request|Response)\b/.test(textOf.get(file) ?? ""),
    );
    expect(speaksHttp).toEqual([]);
  });

  test("a noun is used through its index, and only by nouns after it", () => {
    const order = [
      ["access", "health", "envelope", "artifacts"],
      ["plans"],
      ["audit"],
      ["restores"],
      ["organizations", "inputs", "webhooks"],
      ["connections", "signing", "notifications"],
      ["sessions"],
      ["budgets", "invitations"],
      ["billing", "management"],
      ["catalog"],
      ["adapters", "onboarding"],
      ["embeds"],
      ["quotes", "payments"],
      ["executions", "receipts", "requests"],
      ["jobs", "pins"],
      ["comparisons", "diagnostics", "provenance", "usage", "vault"],
    ];
    const rank = new Map(order.flatMap((nouns, place) => nouns.map((noun) => [noun, place] as const)));
    const nounOf = (path: string) => path.split("/")[2] ?? "";
    expect(
      strays("server/domain", (target, file) => {
        const isShared = ["ctx", "paging", "content"].some((each) => target === `server/domain/${each}`);
        if (!isWithin(target, "server/domain") || isShared) return false;
        const [from, to] = [nounOf(file), nounOf(target)];
        if (from === to) return false;
        if (target.split("/").length > 3) return true; // past the index
        return (rank.get(to) ?? Number.POSITIVE_INFINITY) >= (rank.get(from) ?? -1);
      }),
    ).toEqual([]);
  });

  test("the core of executions names neither jobs nor pins: it reaches them through the driver that it is handed", () => {
    const named = (text: string) => /["'`](@\/server\/domain|\.\.)\/(jobs|pins)\b/.test(text);
    const core = sources.filter((file) => isWithin(file, "server/domain/executions"));
    expect(core).toContain("server/domain/executions/turn.ts");
    expect(core.filter((file) => named(textOf.get(file) ?? ""))).toEqual([]);
    expect(named('await import("@/server/domain/jobs")')).toBe(true);
  });

  test("endpoints and routers know the domain, not the database, providers or each other", () => {
    const forbidden = ["server/platform/db", "server/providers", "server/generated"];
    for (const folder of ["server/api", "server/operations"])
      expect(
        strays(folder, (target) => [...forbidden, "server/trpc"].some((each) => isWithin(target, each))),
      ).toEqual([]);
    expect(
      strays("server/trpc", (target, file) => {
        // One file takes operations without their HTTP, another serves the panel's requests.
        const knowsHttp = ["server/trpc/of.ts", "server/trpc/serve.ts"].includes(file);
        const isHttp = isWithin(target, "server/api") && !knowsHttp;
        return isHttp || forbidden.some((each) => isWithin(target, each));
      }),
    ).toEqual([]);
  });

  test("a durable function calls a verb and nothing below it", () => {
    const allowed = (target: string) =>
      !isOurs(target) ||
      isWithin(target, "server/domain") ||
      target === "inngest/client" ||
      target === "inngest/flow" ||
      isWithin(target, "inngest/functions");
    expect(strays("inngest/functions", (target) => !allowed(target))).toEqual([]);
  });

  test("route files of the API know the API only", () => {
    const isApi = (target: string) => isWithin(target, "server/api") || isWithin(target, "server/operations");
    expect(strays("app/v1", (target) => !isApi(target))).toEqual([]);
  });

  test("the verifier imports nothing of ours, so that it runs in a browser and without us", () => {
    const files = sources.filter((file) => isWithin(file, "server/verify"));
    expect(files.length).toBeGreaterThan(3);
    for (const file of [...files, "server/platform/text/canonical-text.ts"]) {
      for (const { target, isTypeOnly } of importsOf(file)) {
        const isItsOwn =
          isWithin(target, "server/verify") || target === "server/platform/text/canonical-text";
        // What only a command can do in good time is no part of its index.
        const isOfCommands = file === "server/verify/find-change.ts" && target === "node:crypto";
        expect(isItsOwn || isTypeOnly || isOfCommands, `${file} imports ${target}`).toBe(true);
      }
      expect(importsOf(file).map(({ target }) => target)).not.toContain("server/verify/find-change");
    }
  });

  test("components change things by useAction alone, which a double click does once", () => {
    const users = sources.filter((file) =>
      /import \{[^}]*\buseMutation\b[^}]*\} from "@tanstack\/react-query"/.test(textOf.get(file) ?? ""),
    );
    expect(users).toEqual(["components/blocks/data/use-action.ts"]);
  });

  test("components know components, the contract, the verifier and the types of the router", () => {
    expect(
      strays("components", (target, _file, isTypeOnly) => {
        if (!isWithin(target, "server") && !isWithin(target, "app")) return false;
        const isPure = isWithin(target, "server/contract") || ["server/verify", UNITS].includes(target);
        return !isPure && !(isTypeOnly && isWithin(target, "server/trpc"));
      }),
    ).toEqual([]);
  });
});

describe("every endpoint has a route file, and every route file an endpoint", () => {
  const ALL_METHODS = "export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(";
  const routeFileOf = (path: string) => `app${path.replaceAll("{", "[").replaceAll("}", "]")}/route.ts`;
  const byPath = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    byPath.set(endpoint.path, [...(byPath.get(endpoint.path) ?? []), endpoint]);
  }

  test.each([...byPath])("%s", (path, methods) => {
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
    // The catch-alls answer what no endpoint serves.
    const extra = sources.filter((file) => isWithin(file, "app/v1") && !known.has(file));
    expect(extra.sort()).toEqual(["app/v1/[...path]/route.ts", "app/v1/route.ts"]);
  });

  test("a route file answers as the web process does, with the methods in the same order", {
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
  test("every row is some endpoint's, a job's, or the kernel's", () => {
    // Answered by the router; by jobs that end so; or by endpoints of a later kind of work.
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
    "%s",
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

  test("only the domain and the embedded engine open the database", () => {
    const users = sources.filter((file) =>
      importsOf(file).some(({ target, isTypeOnly }) => target === "server/platform/db" && !isTypeOnly),
    );
    const processes = ["server/worker.ts", "server/web.ts", "server/worker/periodic-tasks.ts"];
    expect(
      users.filter(
        (file) =>
          !isWithin(file, "server/domain") &&
          !isWithin(file, "inngest/embedded") &&
          !processes.includes(file),
      ),
    ).toEqual([]);
  });
});
