export { type CheckedFile, type CheckOptions, checkHeader, checkPieces, checkSafetensors } from "./check";
export type { Dtype } from "./dtypes";
export { type Header, headerLength, PREFIX_BYTES, type Tensor } from "./header";
export { type LoraFacts, type LoraNaming, loraFacts } from "./lora";
export { LIMITS, type Place, RULES, type Rule, SafetensorsRefusal } from "./rules";
