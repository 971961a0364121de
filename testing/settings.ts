import { onTestFinished, TestRunner } from "vitest";
import { type Env, env } from "@/server/platform/settings/env";

/**
 * Changes settings for the rest of a test or, outside of a test, for the rest of the file. They are restored automatically:
 * after the test here, after the file in testing/setup/settings.ts.
 */
export function setSettings(values: Partial<Env>): void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, env[name as keyof Env]]));
  Object.assign(env, values);
  if (TestRunner.getCurrentTest()) onTestFinished(() => void Object.assign(env, before));
}
