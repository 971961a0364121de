import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import openapiTS, { astToString } from "openapi-typescript";
import { generate as orval } from "orval";

/* The three generators for the document of an installation, with their default options except for the output of orval. */

export const GENERATED = join(import.meta.dirname, "..", "generated");
export type Generator = "openapi-typescript" | "@hey-api/openapi-ts" | "orval";

/** Writes the code of one generator into its folder under `generated`. */
export async function generate(generator: Generator, documentUrl: string): Promise<void> {
  const document = await (await fetch(documentUrl)).text();
  const folder = join(GENERATED, generator.split("/").at(-1)!);
  const input = join(GENERATED, "document.json");
  await rm(folder, { recursive: true, force: true });
  await mkdir(GENERATED, { recursive: true });
  await writeFile(input, document);
  if (generator === "openapi-typescript") {
    await writeFile(`${folder}.ts`, astToString(await openapiTS(JSON.parse(document))));
  } else if (generator === "@hey-api/openapi-ts") {
    await createClient({ input, output: folder, logs: { level: "silent" } });
  } else {
    await orval({
      input: { target: input },
      output: { target: join(folder, "index.ts"), client: "fetch", mode: "single" },
    });
  }
}
