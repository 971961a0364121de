import { readFileSync } from "node:fs";
import { productionPackages } from "./licences";

/**
 * `npm run -s sbom > sbom.cdx.json`: the packages of an installation as a CycloneDX 1.6 document, each with its licence and the
 * checksum that npm verifies. The same lock file gives the same bytes.
 */
export function billOfMaterials() {
  const { name, version, description } = JSON.parse(readFileSync("package.json", "utf8"));
  const packages = productionPackages();
  const purlOf = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
  const root = purlOf(name, version);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": root,
        name,
        version,
        description,
        purl: root,
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: packages.map((each) => {
      const purl = purlOf(each.name, each.version);
      const [, hash = ""] = each.integrity.split("sha512-");
      // CycloneDX accepts only SPDX in `expression`; a licence in other words goes into `license.name`.
      const licence = / and /.test(each.licence)
        ? { license: { name: each.licence } }
        : { expression: each.licence };
      return {
        type: "library",
        "bom-ref": purl,
        name: each.name,
        version: each.version,
        purl,
        licenses: [licence],
        hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }],
      };
    }),
  };
}

if (process.argv[1]?.endsWith("sbom.ts")) console.log(JSON.stringify(billOfMaterials(), null, 2));
