export { type Alongside, type Binding, bindCredential, unbindCredential } from "./bind";
export {
  checkCredential,
  deleteCredential,
  listCredentials,
  type Rotation,
  rotateCredential,
} from "./change";
export type { CheckResult } from "./check";
export { type BoundConnection, connectionsOf, type OpenAccount, openAccount } from "./connections";
export { createCredential } from "./create";
export { connectionHealth } from "./health-of";
export { baseUrlOf, isOperatorsAddress, operatorCredentials } from "./operator";
export { recordConnectionOutcome, writeConnectionOutcomes } from "./outcomes";
export { connectProject, projectConnections } from "./project";
export { learnedOf } from "./request-rules";
export { credentialsByVaultKey, rewrapCredentials } from "./rewrap";
export { baseName, providerOfRoute } from "./route-names";
export {
  type CredentialRow,
  credentialsOf,
  findConnectableProvider,
  getCredential,
  getProvider,
  isConnectable,
  isReachedBy,
  toCredential,
} from "./rows";
