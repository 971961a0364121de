import { ProviderFault } from "./define";
import { saysFailure } from "./ends";
import type { HttpIo, HttpReply } from "./http";
import { vendorWords } from "./vendor-words";

/* Work that a vendor took and is asked for. A fault of the request says nothing of the work; these say that it failed. */

/** The end of work without a result, with the vendor's words for it. */
export const failedWork = (vendor: string, { status, body }: HttpReply, io: HttpIo): ProviderFault =>
  new ProviderFault("failed", "attempted", `${vendor} failed while working on the request.`, {
    status,
    vendor: vendorWords(body, io),
  });

/** Throws where the word for the state of the work, known or not, says that the work failed. Any other new word may pass. */
export function requireNoFailure(reply: HttpReply, io: HttpIo, vendor: string): void {
  const { body } = reply;
  const status = typeof body === "object" && body !== null && "status" in body ? body.status : null;
  if (typeof status === "string" && saysFailure(status)) throw failedWork(vendor, reply, io);
}
