import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  filesUnder,
  importsOf,
  isTest,
  isWithin,
  ROOT,
  sources,
  targetOf,
  textOf,
  UNITS,
} from "./sources.fixture";

/** Forbidden imports of the files in a folder. */
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

/** Code that would serve another product as well, except the database; and the interface's words for families of models. */
const isLeaf = (target: string) =>
  (isWithin(target, "server/platform") && target !== "server/platform/db") ||
  target === "server/contract/model-families";

describe("imports flow one way", () => {
  test("the law sees what a file imports", () => {
    const seen = importsOf("server/operations/jobs.ts").map(({ target }) => target);
    expect(seen).toContain("server/domain/jobs");
    expect(seen).toContain("server/contract/jobs");
  });

  test("the contract imports only zod, itself and the units of time, so that it runs in a browser", () => {
    expect(
      strays(
        "server/contract",
        (target) => target !== "zod" && !isWithin(target, "server/contract") && target !== UNITS,
      ),
    ).toEqual([]);
  });

  test("the platform imports nothing of the product", () => {
    const declarations = ["server/generated/prisma/client", "package.json"];
    expect(
      strays("server/platform", (target) => {
        const isItsOwn = isWithin(target, "server/platform") || declarations.includes(target);
        return !isItsOwn && (isOurs(target) || target === "package.json");
      }),
    ).toEqual([]);
  });

  test("a provider imports no domain, database, capability, endpoint, page or durable function", () => {
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

  test("a payment provider imports only its folder and the platform of ours, and one file imports Stripe's package", () => {
    const allowed = (target: string) =>
      !isOurs(target) || isWithin(target, "server/payments") || isLeaf(target);
    expect(strays("server/payments", (target) => !allowed(target))).toEqual([]);
    const users = sources.filter((file) => importsOf(file).some(({ target }) => target === "stripe"));
    expect(users).toEqual(["server/payments/stripe.ts"]);
  });

  test("one folder imports HTTP clients, is reached through its index, and imports nothing of the product", () => {
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

  test("a source of weights imports only its folder, the HTTP client, the safetensors reader and the platform of ours", () => {
    const own = ["server/model-sources", "server/platform/http", "server/compute/safetensors"];
    const allowed = (target: string) =>
      !isOurs(target) || own.some((each) => isWithin(target, each)) || isLeaf(target);
    expect(strays("server/model-sources", (target) => !allowed(target))).toEqual([]);
  });

  test("computation imports nothing of the product but geometry and a few parts of the platform", () => {
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
    expect(users.filter((file) => !isWithin(file, "server/compute/safetensors"))).toEqual([]); // others use its index
  });

  test("the client and its command import from the service only what runs without it", () => {
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

  test("one file imports nodemailer, and its folder imports nothing of the product", () => {
    const allowed = (target: string) => !isOurs(target) || isWithin(target, "server/mail") || isLeaf(target);
    expect(strays("server/mail", (target) => !allowed(target))).toEqual([]);
    const users = sources.filter((file) => importsOf(file).some(({ target }) => target === "nodemailer"));
    expect(users).toEqual(["server/mail/smtp.ts"]);
  });

  test("a capability imports no single provider, no database and nothing above it", () => {
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

  test("the domain uses no HTTP, no tRPC, no React and no Next", () => {
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
        if (target.split("/").length > 3) return true; // the import bypasses the noun's index
        return (rank.get(to) ?? Number.POSITIVE_INFINITY) >= (rank.get(from) ?? -1);
      }),
    ).toEqual([]);
  });

  test("the core of executions imports neither jobs nor pins", () => {
    const named = (text: string) => /["'`](@\/server\/domain|\.\.)\/(jobs|pins)\b/.test(text);
    const core = sources.filter((file) => isWithin(file, "server/domain/executions"));
    expect(core).toContain("server/domain/executions/apply.ts");
    expect(core.filter((file) => named(textOf.get(file) ?? ""))).toEqual([]);
    expect(named('await import("@/server/domain/jobs")')).toBe(true);
  });

  test("the decisions about an execution import only outcomes, and use no clock, no randomness and nothing to await", () => {
    const core = "server/domain/executions";
    const valuesOf = (name: string) =>
      importsOf(`${core}/${name}.ts`).flatMap(({ target, isTypeOnly }) => (isTypeOnly ? [] : [target]));
    expect(valuesOf("decide")).toEqual([`${core}/call-outcome`, `${core}/outcomes`]);
    expect(valuesOf("call-outcome")).toEqual([`${core}/outcomes`]);
    expect(textOf.get(`${core}/decide.ts`)).not.toMatch(/\bawait\b|\bDate\.now\b|new Date\(|Math\.random/);
  });

  test("only the core calls a store to seal and finish executions, and only the two stores seal receipts and write ends", () => {
    const filesWith = (pattern: RegExp) =>
      sources.filter((file) => isWithin(file, "server/domain") && pattern.test(textOf.get(file) ?? ""));
    expect(filesWith(/\bstore\.(seal|finish|late)\(/)).toEqual(["server/domain/executions/apply.ts"]);
    const stores = ["server/domain/jobs/ending/end.ts", "server/domain/pins/end.ts"];
    expect(filesWith(/import \{[^}]*\bfinish(Job|Pin)\b[^}]*\} from "[^"]*transitions/)).toEqual(stores);
    expect(filesWith(/\bawait seal(Receipt|Record)\(/)).toEqual(stores);
  });

  test("endpoints and routers import neither the database nor providers; endpoints import no router, and routers no HTTP", () => {
    const forbidden = ["server/platform/db", "server/providers", "server/generated"];
    for (const folder of ["server/api", "server/operations"])
      expect(
        strays(folder, (target) => [...forbidden, "server/trpc"].some((each) => isWithin(target, each))),
      ).toEqual([]);
    expect(
      strays("server/trpc", (target, file) => {
        // One file takes operations without their HTTP, and another serves the panel's requests.
        const knowsHttp = ["server/trpc/of.ts", "server/trpc/serve.ts"].includes(file);
        const isHttp = isWithin(target, "server/api") && !knowsHttp;
        return isHttp || forbidden.some((each) => isWithin(target, each));
      }),
    ).toEqual([]);
  });

  test("a durable function imports the domain and Inngest's modules, and nothing else of ours", () => {
    const allowed = (target: string) =>
      !isOurs(target) ||
      isWithin(target, "server/domain") ||
      target === "inngest/client" ||
      target === "inngest/flow" ||
      isWithin(target, "inngest/functions");
    expect(strays("inngest/functions", (target) => !allowed(target))).toEqual([]);
  });

  test("route files of the API import only endpoints and operations", () => {
    const isApi = (target: string) => isWithin(target, "server/api") || isWithin(target, "server/operations");
    expect(strays("app/v1", (target) => !isApi(target))).toEqual([]);
  });

  test("the verifier imports only itself, the canonical text and types, so that it runs in a browser and without us", () => {
    const files = sources.filter((file) => isWithin(file, "server/verify"));
    expect(files.length).toBeGreaterThan(3);
    for (const file of [...files, "server/platform/text/canonical-text.ts"]) {
      for (const { target, isTypeOnly } of importsOf(file)) {
        const isItsOwn =
          isWithin(target, "server/verify") || target === "server/platform/text/canonical-text";
        // Code that only a command can run in good time is not part of the verifier's index.
        const isOfCommands = file === "server/verify/find-change.ts" && target === "node:crypto";
        expect(isItsOwn || isTypeOnly || isOfCommands, `${file} imports ${target}`).toBe(true);
      }
      expect(importsOf(file).map(({ target }) => target)).not.toContain("server/verify/find-change");
    }
  });

  test("only useAction, which runs once on a double click, imports useMutation", () => {
    const users = sources.filter((file) =>
      /import \{[^}]*\buseMutation\b[^}]*\} from "@tanstack\/react-query"/.test(textOf.get(file) ?? ""),
    );
    expect(users).toEqual(["components/blocks/data/use-action.ts"]);
  });

  test("components import from the server only the contract, the verifier, units of time and the types of the router", () => {
    expect(
      strays("components", (target, _file, isTypeOnly) => {
        if (!isWithin(target, "server") && !isWithin(target, "app")) return false;
        const isPure = isWithin(target, "server/contract") || ["server/verify", UNITS].includes(target);
        return !isPure && !(isTypeOnly && isWithin(target, "server/trpc"));
      }),
    ).toEqual([]);
  });
});
