import { ProviderFault } from "./define";
import { saysFailure } from "./ends";
import type { HttpIo, HttpReply } from "./http";
import { vendorWords } from "./vendor-words";

/*
 * Faults of work that a vendor accepted and that is polled. A fault of a poll says nothing about the work; these faults
 * end it.
 */

/** The end of work without a result, with the vendor's error text. */
export const failedWork = (vendor: string, { status, body }: HttpReply, io: HttpIo): ProviderFault =>
  new ProviderFault("failed", "attempted", `${vendor} failed while working on the request.`, {
    status,
    vendor: vendorWords(body, io),
  });

/**
 * Throws if the state of the work reports a failure, even with a word that is unknown. Any other unknown word may be
 * temporary.
 */
export function requireNoFailure(reply: HttpReply, io: HttpIo, vendor: string): void {
  const { body } = reply;
  const status = typeof body === "object" && body !== null && "status" in body ? body.status : null;
  if (typeof status === "string" && saysFailure(status)) throw failedWork(vendor, reply, io);
}
