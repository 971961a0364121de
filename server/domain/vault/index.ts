export { checkVaultKey, plantCanary } from "./canary";
export { dropOldKeys, rotateKey, type VaultStatus, vaultStatus } from "./keys";
export { announceVaultKeys, type VaultProcess } from "./processes";
export { type Rewrapped, rewrapAll } from "./rewrap";
