export { alerts, fanOutAlerts } from "./alerts";
export { ceilings } from "./ceilings";
export {
  type ConnectionGuardrails,
  connectionGuardrails,
  writeConnectionGuardrails,
} from "./connection-guardrails";
export {
  changeGuardrails,
  checkGuardrail,
  guardrails,
  preventingScope,
  scopeOfConnection,
} from "./guardrails";
export {
  openPinnedHolds,
  RESERVATION_OF_JOB,
  RESOLUTION_COLUMNS,
  reservationOfPin,
  reserving,
  resolved,
} from "./hold-columns";
export { FEE, FOUND_COST, type HoldFacts, holdFactsOf, IS_CHARGED, readHold, readHolds } from "./hold-facts";
export { listHolds } from "./holds";
export { get, list, listForProject } from "./list";
export { policy, putPolicy } from "./policy";
export { exposureOf, type Posting, postingsOf } from "./postings";
export {
  ALLOWANCE_MICROS,
  billingUrl,
  FUNDING_OPTIONS,
  type Funding,
  ledgerAccount,
  refuseReservation,
  TRIAL_CEILING_MICROS,
} from "./reserve";
export { type ExecutionHold, holdsBy, readAmbiguous, resolve } from "./resolve";
export { resolveHold } from "./resolve-hold";
export { resolveHolds } from "./resolve-holds";
export { clearIncrease, increase, openCeiling, remove, set } from "./set";
