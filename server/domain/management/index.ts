export { createManagementKey } from "./create";
