/** How evidence is verified: the service's own rule, from a document's text and public keys alone. */
export {
  type Check,
  type KeySet,
  type PublicKey,
  type Verification,
  verifyDocument,
  verifyText,
  type Witnesses,
} from "../../../server/verify";
