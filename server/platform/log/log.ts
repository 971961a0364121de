import pino from "pino";
import { redactText } from "@/server/platform/crypto/redact-tokens";
import { env } from "@/server/platform/settings/env";

/** The format of log lines, independent of their destination. */
export const logOptions: pino.LoggerOptions = {
  level: env.LOG_LEVEL,
  base: undefined,
  redact: {
    // The last three fields contain the row that the database rejected.
    paths: [
      "*.authorization",
      "*.apiKey",
      "*.secret",
      "*.password",
      "*.cookie",
      "err.detail",
      "err.where",
      "err.internalQuery",
    ],
    censor: "[redacted]",
  },
  // Redacts tokens in text that a driver, a library or a vendor put into its own error.
  hooks: { streamWrite: redactText },
};

/** The logger that the domain uses. */
export type Log = Pick<pino.Logger, "error" | "warn" | "info">;

/** Structured log on standard error. It may contain ids, but never content, credentials or bodies. */
export const log = pino(logOptions, pino.destination(2));
