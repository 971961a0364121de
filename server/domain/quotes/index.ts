export { type Estimate, estimate, FREE, type Processing } from "./estimate";
export { type ExecutionPlan, planExecution, ruled, toFault, type Wanted } from "./plan";
export { priceOf, serviceFee } from "./price";
export { checkQuote, pricingOf, quote } from "./quote";
