import { generate } from "./launch/generate";
import { writeOutcomes } from "./outcomes-page";

const { prisma, registries } = generate();
for (const path of [...(prisma ? ["server/generated/prisma"] : []), ...registries, ...writeOutcomes(".")])
  console.log(`Wrote ${path}`);
