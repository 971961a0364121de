export { entries } from "./entries";
export { logFile, logOf } from "./log";
export { type Act, AUDIT, type AuditRow, audited, auditRow, INSTALLATION, record } from "./record";
