export { bind, connect, remove, rotate, setGuardrails, unbind } from "./change";
export { health, prune, repair, test } from "./health";
export { plan } from "./plan";
export { bindings, get, list } from "./read";
export { completeOnboarding, getOnboarding, onboardingResult, startOnboarding } from "./sessions";
