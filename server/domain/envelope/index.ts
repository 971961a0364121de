export { enforcementOf } from "./enforcement";
export { given, said } from "./given";
export { maturityOf } from "./maturity";
export {
  checkCallerFields,
  checkCallerObject,
  type Envelope,
  type EnvelopeKind,
  nearest,
  normalizeEnvelope,
  refuseUnknown,
  settleIdempotencyKey,
  settleKey,
  toIssues,
} from "./normalize";
export { keptMs, keptUntil } from "./retention";
