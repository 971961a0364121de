export { type EngineLog, type EngineOptions, startEngine } from "./engine";
export { enqueue } from "./enqueue";
export { migrateEngine } from "./migrate";
