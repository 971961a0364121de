export { type Act, record } from "./record";
