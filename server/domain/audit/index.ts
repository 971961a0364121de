export { entries } from "./entries";
export { logFile, logOf } from "./log";
export { type Act, INSTALLATION, record } from "./record";
