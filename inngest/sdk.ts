import { Inngest } from "inngest";
import { log } from "@/server/platform/log/log";

/** The one Inngest client. The SDK reads its settings (INNGEST_*) from the environment. */
export const inngest = new Inngest({ id: "capstan", logger: log, aiMetadata: false });
