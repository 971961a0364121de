export { bindCredential, type Place, unbindCredential } from "./bind";
export { deleteCredential, listCredentials, recheckCredential, rotateCredential } from "./change";
export { type Connection, connectionsOf, type OpenAccount, openAccount } from "./connections";
export { createCredential } from "./create";
export { baseUrlOf, operatorCredentials } from "./operator";
export { connectProject, projectConnections } from "./project";
export { isConnectable } from "./rows";
