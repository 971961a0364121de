import { defineConfig } from "prisma/config";

export default defineConfig({
  schema: "prisma/schema",
  migrations: { path: "prisma/migrations", seed: "tsx prisma/seed.ts" },
  // The URL is needed by `prisma migrate deploy` only; `prisma generate` works without one.
  datasource: { url: process.env.DATABASE_URL ?? "postgresql://localhost:5432/capstan" },
});
