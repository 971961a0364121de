export { checkHeader, checkPieces, checkSafetensors } from "./check";
export { type Header, headerLength, PREFIX_BYTES } from "./header";
export { type LoraFacts, loraFacts } from "./lora";
export { RULES, SAFETENSORS_LIMITS, SafetensorsRefusal, type SafetensorsRule } from "./rules";
