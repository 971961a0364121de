export { dropOldKeys, rotateKey, type VaultStatus, vaultStatus } from "./keys";
export { SEALED_COLUMNS } from "./places";
export { announceVaultKeys, type VaultProcess } from "./processes";
export { type Rewrapped, rewrapAll } from "./rewrap";
