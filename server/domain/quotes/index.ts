export { priceOf, serviceFee } from "@/server/domain/catalog";
export { checkQuote } from "./check";
export { type Estimate, estimate, FREE, type Processing } from "./estimate";
export { type ExecutionPlan, fundedFor, planExecution, ruled, toFault, type Wanted } from "./plan";
export { pricingOf, quote } from "./quote";
