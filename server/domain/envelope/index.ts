export { enforcementOf } from "./enforcement";
export { given, said } from "./given";
export { admitOnce, type First, isSameRequest, sameFirst } from "./idempotency";
export {
  callersKey,
  type Holder,
  holderOf,
  type SentKey,
  soughtSpellings,
  spellingsOf,
} from "./key-spellings";
export { maturityOf } from "./maturity";
export {
  checkCallerFields,
  checkCallerObject,
  type Envelope,
  type EnvelopeKind,
  mintKey,
  normalizeEnvelope,
  settleKey,
  toBodyIssues,
} from "./normalize";
export { keptMs, keptUntil } from "./retention";
export { byNearness, nearest, refuseUnknown } from "./unknown";
