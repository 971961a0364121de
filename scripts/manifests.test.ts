import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { SETTINGS } from "@/server/platform/settings/env";
import { contextFiles, openIgnore, readStages } from "./prove/image-steps";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const compose = parse(readFileSync("compose.yaml", "utf8"), { merge: true });
const { items } = parse(readFileSync("deploy/kubernetes.yaml", "utf8"));
const workflows = readdirSync(".github/workflows").map((name) => `.github/workflows/${name}`);
const forms = readdirSync(".github/ISSUE_TEMPLATE").map((name) => `.github/ISSUE_TEMPLATE/${name}`);
const KNOWN = ["web", "worker", "sandbox", "migrate"];

test("the last matching line of a .dockerignore decides whether a file is left out", () => {
  const isIgnored = openIgnore("# all\n*\n!app\n!docs/openapi.json\n**/*.test.ts\n**/dist\n");
  expect(["app/page.tsx", "docs/openapi.json"].map(isIgnored)).toEqual([false, false]);
  expect([".env", "docs/README.md", "app/a/b.test.ts", "app/dist/x.js", "README.md"].map(isIgnored)).toEqual(
    Array(5).fill(true),
  );
});

test("the build's context has what the Dockerfile copies from it, and no test", () => {
  const context = contextFiles();
  const [build] = readStages(readFileSync("Dockerfile", "utf8"));
  const copied = build!.steps
    .filter(({ instruction }) => instruction === "COPY")
    .flatMap(({ rest }) => rest.split(" ").slice(0, -1));
  expect(copied.filter((path) => path !== "." && !context.includes(path))).toEqual([]);
  expect(context.filter((path) => /\.test\.tsx?$|^\.env/.test(path))).toEqual([]);
  expect(context).toContain("server/web.ts");
});

test("compose and Kubernetes run known processes without rights, on a read-only root", () => {
  const own = Object.values<Record<string, unknown>>(compose.services).filter(({ read_only }) => read_only);
  expect(own.map(({ command }) => (command as string[])[0])).toEqual(["migrate", "web", "worker"]);
  for (const service of own) expect(service.cap_drop).toEqual(["ALL"]);
  const pods = items.flatMap(
    (item: { spec?: { template?: { spec: object } } }) => item.spec?.template?.spec ?? [],
  );
  expect(pods).toHaveLength(3);
  for (const { securityContext, containers } of pods) {
    expect(securityContext.runAsNonRoot).toBe(true);
    expect(KNOWN).toContain(containers[0].args[0]);
    expect(containers[0].securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
  }
});

test("compose, Kubernetes and the systemd unit set only settings that exist", () => {
  const unit = readFileSync("deploy/capstan@.service", "utf8");
  const named = [
    ...Object.keys(compose.services.web.environment),
    ...items.flatMap((item: { kind: string; data?: object }) =>
      item.kind === "ConfigMap" ? Object.keys(item.data ?? {}) : [],
    ),
    ...[.../^Environment=(.*)$/m.exec(unit)![1]!.matchAll(/(\w+)=/g)].map(([, name]) => name!),
  ].filter((name) => name !== "NODE_ENV");
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !(SETTINGS as readonly string[]).includes(name))).toEqual([]);
});

test("workflows and forms are YAML, and workflows may only read contents by default and run scripts that exist", () => {
  for (const file of [...workflows, ...forms])
    expect(
      parseAllDocuments(readFileSync(file, "utf8")).flatMap(({ errors }) => errors),
      file,
    ).toEqual([]);
  for (const file of workflows) {
    const text = readFileSync(file, "utf8");
    expect(parse(text).permissions, file).toEqual({ contents: "read" });
    const run = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name!);
    expect(
      run.filter((name) => !(name in scripts)),
      file,
    ).toEqual([]);
    const files = [...text.matchAll(/node (scripts\/\S+)/g)].map(([, path]) => path!);
    expect(
      files.filter((path) => !existsSync(path)),
      file,
    ).toEqual([]);
  }
});
