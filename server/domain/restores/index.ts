export { HELD_KINDS, type HeldKind, holdAll, isHeld, isInUse, notHeld } from "./held";
export { type HeldWork, heldWork, holdRestored, releaseHeld } from "./release";
