import { SourceFault } from "@/server/model-sources";
import { fail } from "@/server/platform/errors/errors";
import { refuseAt } from "../rows";

/**
 * Queries a source. Its refusal is a 422 at this place; ProviderUnavailable (503) if the source cannot be
 * reached now.
 */
export async function askSource<T>(at: string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    if (error.reason === "unavailable") fail("ProviderUnavailable", error.message);
    refuseAt(at, error.message, `source_${error.reason}`);
  }
}
