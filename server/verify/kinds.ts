import { canonicalText } from "../platform/text/canonical-text";
import { type Bytes, base64, hex } from "./ed25519";
import { isJsonRecord, type JsonRecord, textOrNull } from "./json";

/*
 * The four kinds of sealed documents, and where each keeps its seal. A document's hash and signature cover the same text:
 * the RFC 8785 form of its members, without those outside the seal.
 */

export type DocumentKind = "receipt" | "pinned record" | "manifest" | "lockfile";

export type DocumentForm = {
  kind: DocumentKind;
  /** The member with the document's id. */
  id: string;
  /** The path of the member with the document's own hash. */
  hashMember: string;
  hashOf(document: JsonRecord): string | null;
  written(digest: Bytes): string;
  /** Top-level members that are outside the seal. */
  outside: readonly string[];
  sealed(document: JsonRecord): JsonRecord;
};

const without = (document: JsonRecord, members: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(document).filter(([member]) => !members.includes(member)));

/** A form whose hash is a top-level member. */
const flat = (
  kind: DocumentKind,
  {
    id,
    hashMember,
    outside,
    written = hex,
  }: {
    id: string;
    hashMember: string;
    outside: readonly string[];
    written?: DocumentForm["written"] | undefined;
  },
): DocumentForm => ({
  kind,
  id,
  hashMember,
  hashOf: (document) => textOrNull(document[hashMember]),
  written,
  outside,
  sealed: (document) => without(document, outside),
});

export const FORMS: Readonly<Record<string, DocumentForm>> = {
  "service.receipt.v1": {
    ...flat("receipt", { id: "receiptId", hashMember: "provenance.receiptHash", outside: ["signature"] }),
    hashOf: ({ provenance }) => (isJsonRecord(provenance) ? textOrNull(provenance.receiptHash) : null),
    sealed: ({ signature: _signature, ...rest }) =>
      isJsonRecord(rest.provenance)
        ? { ...rest, provenance: without(rest.provenance, ["receiptHash"]) }
        : rest,
  },
  "service.pinned-record.v1": flat("pinned record", {
    id: "receiptId",
    hashMember: "recordHash",
    outside: ["receipt_id", "recordHash", "signature", "output", "nativeResponse", "corrections"],
  }),
  "service.manifest.v1": flat("manifest", {
    id: "manifestId",
    hashMember: "manifestHash",
    outside: ["manifestHash", "signature"],
  }),
  "service.lockfile.v1": flat("lockfile", {
    id: "receiptId",
    hashMember: "integrity",
    outside: ["integrity", "signature"],
    written: (digest) => `sha256-${base64(digest)}`,
  }),
};

export const formOf = (document: unknown): DocumentForm | undefined => {
  const version = isJsonRecord(document) ? textOrNull(document.schemaVersion) : null;
  return version !== null && Object.hasOwn(FORMS, version) ? FORMS[version] : undefined;
};

/** The text that a document's hash and signature cover. Throws TypeError for a document of another kind. */
export function sealedText(document: JsonRecord): string {
  const form = formOf(document);
  if (!form) throw new TypeError("This is not a receipt, pinned record, manifest or lockfile.");
  return canonicalText(form.sealed(document));
}
