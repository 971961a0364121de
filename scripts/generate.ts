import { readFileSync, writeFileSync } from "node:fs";
import { writeOutcomes } from "./generate/outcomes-page";
import { settingsExample } from "./generate/settings-example";
import { generate } from "./launch/generate";

const { prisma, registries } = generate();
for (const path of [...(prisma ? ["server/generated/prisma"] : []), ...registries, ...writeOutcomes(".")])
  console.log(`Wrote ${path}`);
writeFileSync(".env.example", settingsExample(readFileSync("docs/reference/settings.md", "utf8")));
