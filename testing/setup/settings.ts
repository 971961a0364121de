import { afterAll } from "vitest";
import { env } from "@/server/platform/settings/env";

/* A worker runs many files, so changed settings are restored after each. */
const settings = { ...env };
const variables = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(env)) if (!(name in settings)) delete env[name as keyof typeof env];
  Object.assign(env, settings);
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
});
