export { entries } from "./entries";
export { type Act, record } from "./record";
