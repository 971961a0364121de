import type { RawEnvelope } from "@/server/contract/envelope";
import type { Incoming } from "../transport";
import { projectOf } from "./ask";
import type { Wanted } from "./model";

/** The envelope of an input, on the model that was named, in the project that the request says. */
export const toEnvelope = (input: object, { named }: Wanted, incoming: Incoming): RawEnvelope =>
  ({
    input,
    ...(named ? { execution: { executionConstraints: named } } : {}),
    context: { projectId: projectOf(incoming) ?? null },
  }) as RawEnvelope; // parsed JSON, in another order
