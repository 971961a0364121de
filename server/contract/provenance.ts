import { z } from "zod";
import { DateTime, JsonObject, Money, PathId, pageLimit } from "./common";
import { Pin } from "./pinned";
import { ReceiptSignature } from "./receipts";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const ManifestRequest = z
  .strictObject({
    label: z.string().min(1).max(255),
    receiptIds: z.array(z.string().min(1).max(64)).min(1).max(10_000),
    experimentHash: z.string().min(1).max(255).nullish(),
    projectId: z.string().max(64).nullish(),
    context: z.strictObject({ projectId: z.string().max(64).nullish() }).nullish(),
  })
  .meta({ id: "ManifestRequest" });
export type ManifestRequest = z.output<typeof ManifestRequest>;

export const ManifestReceipt = z.object({
  receiptId: z.string(),
  /**
   * The receipt's own hash (`provenance.receiptHash` or `recordHash`), which binds every byte of the receipt to this
   * manifest.
   */
  receiptHash: Sha256,
  /** Null for a job that ran without a provider. */
  pin: Pin.nullable(),
  requestHash: z.string(),
  outputHash: Sha256.nullable(),
  providerSubmission: z.enum(["not_attempted", "ambiguous", "attempted"]),
  completedAt: DateTime,
});

export const Manifest = z
  .object({
    schemaVersion: z.literal("service.manifest.v1"),
    manifestId: z.string(),
    projectId: z.string(),
    label: z.string(),
    experimentHash: z.string().nullable(),
    createdAt: DateTime,
    receipts: z.array(ManifestReceipt),
    /** SHA-256 of the RFC 8785 form of all members except this one and the signature. */
    manifestHash: Sha256,
    signature: ReceiptSignature,
  })
  .meta({ id: "Manifest" });
export type Manifest = z.output<typeof Manifest>;

export const ManifestVerification = z
  .object({
    manifestId: z.string(),
    verified: z.boolean(),
    receiptsExpected: z.int(),
    receiptsFound: z.int(),
    pinsMatching: z.int(),
    requestHashDrift: z.array(z.string()),
    /** Receipts whose own hash or signature is no longer valid. */
    receiptsInvalid: z.array(z.string()),
    fallbacks: z.int(),
    providerRetries: z.int(),
    providerSpend: Money,
    /** Receipts with an unknown cost, which the spend leaves out. */
    costUnknown: z.int(),
    manifestHashMatches: z.boolean(),
    signatureValid: z.boolean(),
  })
  .meta({ id: "ManifestVerification" });
export type ManifestVerification = z.output<typeof ManifestVerification>;

export const ManifestRef = z.object({ manifest_id: PathId });
export const ListManifests = z.object({
  projectId: z.string().min(1).max(64).optional(),
  limit: pageLimit(100, 25),
  cursor: z.string().max(64).optional(),
});
export const ManifestListItem = Manifest.pick({
  manifestId: true,
  projectId: true,
  label: true,
  experimentHash: true,
  createdAt: true,
  manifestHash: true,
}).extend({ receiptCount: z.int() });
export type ManifestListItem = z.output<typeof ManifestListItem>;
export const ManifestPage = z
  .object({ items: z.array(ManifestListItem), nextCursor: z.string().nullable() })
  .meta({ id: "ManifestPage" });

export const LockfileQuery = z.object({ receipt_id: z.string().min(1).max(64) });

export const Lockfile = z
  .object({
    schemaVersion: z.literal("service.lockfile.v1").describe("The version of this form."),
    projectId: z.string().describe("The project of the record."),
    pin: Pin.describe("Provider, model and interface."),
    isolation: z.literal("stateless").describe("Always `stateless`."),
    processing: z.enum(["standard", "deferred"]).describe("The provider's tier."),
    settings: JsonObject.describe(
      "What was sent to the provider, without the model, the prompt, the tools and the response format.",
    ),
    requestHash: z
      .string()
      .describe("SHA-256 of what identifies the request; older ones have `v1:` before it."),
    promptHash: Sha256.describe(
      "SHA-256 of the RFC 8785 form of {instructionsHash, inputHash} of the record, null where there were no instructions.",
    ),
    toolsHash: Sha256.nullable().describe("SHA-256 of the tools; null: none."),
    responseFormatHash: Sha256.nullable().describe("SHA-256 of the response format; null: none."),
    providerModel: z.string().nullable().describe("The model that the provider says it used."),
    providerFingerprint: z.string().nullable().describe("The provider's fingerprint of its system."),
    receiptId: z.string().describe("The record it is of."),
    createdAt: DateTime.describe("When the record was made."),
    integrity: z
      .string()
      .describe(
        "`sha256-` and the base64 SHA-256 of the RFC 8785 form of all members but this and the signature.",
      ),
    signature: ReceiptSignature.describe("An Ed25519 signature over the same form."),
  })
  .meta({ id: "Lockfile" });
export type Lockfile = z.output<typeof Lockfile>;

export const LOCKFILE_CHECKS = [
  "pin_resolves",
  "native_api_supported",
  "request_semantics_unchanged",
  "credentials_available",
  "conformance_passed",
] as const;
export const LockfileVerification = z
  .object({
    verified: z.boolean(),
    checks: z.array(z.object({ name: z.enum(LOCKFILE_CHECKS), ok: z.boolean(), detail: z.string() })),
  })
  .meta({ id: "LockfileVerification" });
export type LockfileVerification = z.output<typeof LockfileVerification>;
