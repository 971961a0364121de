export { agentContext } from "./agent-context";
export { providerDiagnostics } from "./providers";
export { readiness } from "./readiness";
export { session } from "./session";
