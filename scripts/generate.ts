import { generate } from "./launch/generate";

const { prisma, registries } = generate();
for (const path of [...(prisma ? ["server/generated/prisma"] : []), ...registries])
  console.log(`Wrote ${path}`);
