export { lockfileBodyOf, manifestEntryOf, promptHashOf } from "./derive";
export { type KeySet, type PublicKey, thumbprint } from "./ed25519";
export { bareDigest, differencesOf, isSameDigest, placeIn, readJson, shown } from "./json";
export { FORMS, formOf, type Kind, sealedText } from "./kinds";
export type { Check, Verification } from "./verify";
export { verifyDocument, verifyText, type Witnesses } from "./witnesses";
