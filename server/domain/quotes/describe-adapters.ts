import type { ReceiptAdapter } from "@/server/contract/receipts";
import type { Estimate } from "./estimate";

/** The adapters of an execution on quotes, previews and receipts: its name, what that pointed to, and what fixes its bytes. */
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
