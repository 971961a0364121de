export { benchmarks } from "./benchmarks";
export { cost } from "./cost";
export { type UsageFile, usageFile } from "./export";
export { hasLive } from "./has-live";
export { rollUp } from "./roll-up";
export { days, summary } from "./summary";
