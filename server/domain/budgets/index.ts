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
