export { agentContext } from "./agent-context";
export { index, llmsText, manifest } from "./front-door";
export { providerDiagnostics } from "./providers";
export { readiness } from "./readiness";
export { session } from "./session";
