/** Verifies evidence with the service's own code, from a document's text and public keys only. */
export {
  type Check,
  type KeySet,
  type PublicKey,
  type Verification,
  verifyDocument,
  verifyText,
  type Witnesses,
} from "../../../server/verify";
