import { readFileSync, writeFileSync } from "node:fs";
import { generate } from "./launch/generate";
import { writeOutcomes } from "./outcomes-page";
import { settingsExample } from "./settings-example";

const { prisma, registries } = generate();
for (const path of [...(prisma ? ["server/generated/prisma"] : []), ...registries, ...writeOutcomes(".")])
  console.log(`Wrote ${path}`);
writeFileSync(".env.example", settingsExample(readFileSync("docs/reference/settings.md", "utf8")));
