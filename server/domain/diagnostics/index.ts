export { agentContext } from "./agent-context";
export { llmsText, manifest } from "./front-door";
export { providerDiagnostics } from "./providers";
export { readiness } from "./readiness";
export { session } from "./session";
