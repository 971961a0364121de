export { allPlans } from "./define";
export { allowsExternal, externalSwitchOf } from "./external";
export { featuresOf, requireFeature } from "./features";
export { limitOf, limitsOf, PlanSettings, planOf, requireRoom, type Settings } from "./limits";
export { usedOf, usedOfEach } from "./used";
export {
  ADMISSION_LIMITS,
  type AdmissionLimits,
  limitByPlan,
  limitInSql,
  refuseWork,
  TAKEN,
  underOrganization,
} from "./work";
