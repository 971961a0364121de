export { lockfileBodyOf, manifestEntryOf, promptHashOf } from "./derive";
export { type KeySet, type PublicKey, thumbprint } from "./ed25519";
export { bareDigest, differencesOf, isSameDigest, placeIn, readJson, shownValue } from "./json";
export { type DocumentKind, FORMS, formOf, sealedText } from "./kinds";
export type { Check, Verification } from "./verify";
export { verifyDocument, verifyText, type Witnesses } from "./witnesses";
