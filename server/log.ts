import pino from "pino";
import { env } from "@/server/env";

/** Structured log on standard error. Content, credentials and bodies never go through here; ids do. */
export const log = pino(
  {
    level: env.LOG_LEVEL,
    base: undefined,
    redact: {
      paths: ["*.authorization", "*.apiKey", "*.secret", "*.password", "*.cookie"],
      censor: "[redacted]",
    },
  },
  pino.destination(2),
);
