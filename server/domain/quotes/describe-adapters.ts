import type { ReceiptAdapter } from "@/server/contract/receipts";
import type { Estimate } from "./estimate";

/**
 * Describes an execution's adapters on quotes, previews and receipts: the name, the version that it pointed
 * to, and the hash of its bytes.
 */
export const describeAdapters = ({ used, isDefault }: NonNullable<Estimate["adapters"]>): ReceiptAdapter[] =>
  used.map(({ adapterId, displayName, alias, weight, triggerWords, source, sha256 }) => ({
    adapterId,
    displayName,
    alias: alias?.name ?? null,
    aliasVersionId: alias?.versionId ?? null,
    aliasVersionNumber: alias?.number ?? null,
    weight,
    triggerWords,
    source,
    sha256,
    byDefault: isDefault,
  }));
