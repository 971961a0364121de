import pino from "pino";
import { env } from "@/server/env";
import { redactText } from "@/server/redact-tokens";

/** How lines are written, apart from where to. */
export const logOptions: pino.LoggerOptions = {
  level: env.LOG_LEVEL,
  base: undefined,
  redact: {
    // The last three: what the database says of a row it refused is the row itself.
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
  // What a driver, a library or a vendor wrote into an error of its own.
  hooks: { streamWrite: redactText },
};

/** What the domain writes by. */
export type Log = Pick<pino.Logger, "error" | "warn" | "info">;

/** Structured log on standard error. Content, credentials and bodies never go through here; ids do. */
export const log = pino(logOptions, pino.destination(2));
