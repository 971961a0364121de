export { enforcementOf } from "./enforcement";
export { maturityOf } from "./maturity";
export {
  type Envelope,
  type EnvelopeKind,
  nearest,
  normalizeEnvelope,
  settleIdempotencyKey,
  toIssues,
} from "./normalize";
