export { type Alongside, bindCredential, type Place, unbindCredential } from "./bind";
export {
  checkCredential,
  deleteCredential,
  listCredentials,
  type Rotation,
  rotateCredential,
} from "./change";
export type { CheckResult } from "./check";
export { type Connection, connectionsOf, type OpenAccount, openAccount } from "./connections";
export { createCredential } from "./create";
export { noteMet, writeMet } from "./met";
export { baseUrlOf, operatorCredentials } from "./operator";
export { connectProject, projectConnections } from "./project";
export { credentialsByVaultKey, rewrapCredentials } from "./rewrap";
export {
  type CredentialRow,
  credentialsOf,
  findProvider,
  getCredential,
  getProvider,
  isConnectable,
  toCredential,
} from "./rows";
