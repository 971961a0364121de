import { readFileSync, writeFileSync } from "node:fs";
import { generate } from "./launch/generate";
import { settingsExample } from "./settings-example";

const { prisma, registries } = generate();
for (const path of [...(prisma ? ["server/generated/prisma"] : []), ...registries])
  console.log(`Wrote ${path}`);
writeFileSync(".env.example", settingsExample(readFileSync("docs/reference/settings.md", "utf8")));
