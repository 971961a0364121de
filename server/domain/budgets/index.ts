export { course, get, list } from "./list";
export {
  ALLOWANCE_MICROS,
  accountOf,
  billingUrl,
  FUNDING_OPTIONS,
  type Funding,
  fundingOfHold,
  refuseReservation,
  resolved,
  TRIAL_CEILING_MICROS,
} from "./reserve";
export { clearIncrease, increase, remove, set } from "./set";
