export { enforcementOf } from "./enforcement";
export { given, said } from "./given";
export { maturityOf } from "./maturity";
export {
  byNearness,
  checkCallerFields,
  checkCallerObject,
  type Envelope,
  type EnvelopeKind,
  mintKey,
  nearest,
  normalizeEnvelope,
  refuseKey,
  refuseUnknown,
  settleKey,
  toIssues,
} from "./normalize";
export { keptMs, keptUntil } from "./retention";
