import type { Env } from "@/server/platform/settings/env";
import type { Secrets } from "@/server/platform/settings/secrets";
import { RUNTIME_ENV } from "./process-flags";

/** The environment of an installation's process: ours, with the values that its settings leave open. */
export function processEnv(own: {
  settings: Env;
  secrets: Secrets;
  /** Absolute path. */
  dataDir: string;
  port: number;
  publicUrl: string;
  databaseUrl: string;
  dev: boolean;
}): NodeJS.ProcessEnv {
  const { settings, secrets } = own;
  return {
    ...process.env,
    NODE_ENV: own.dev ? "development" : "production",
    CAPSTAN_ENV: settings.CAPSTAN_ENV,
    CAPSTAN_DATA_DIR: own.dataDir,
    HOST: settings.HOST,
    PORT: String(own.port),
    DATABASE_URL: own.databaseUrl,
    NEXTAUTH_SECRET: secrets.nextAuthSecret,
    NEXTAUTH_URL: process.env.NEXTAUTH_URL ?? own.publicUrl,
    CAPSTAN_VAULT_KEY: secrets.vaultKey.toString("base64"),
    CAPSTAN_VAULT_OTHER_KEYS: secrets.otherVaultKeys.map((key) => key.toString("base64")).join(","),
    NEXT_TELEMETRY_DISABLED: "1",
    ...RUNTIME_ENV,
  };
}
