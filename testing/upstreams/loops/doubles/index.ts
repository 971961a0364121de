import type { Double } from "../double";
import { LLAMA_CPP, OLLAMA, VLLM } from "./local";
import { GROQ, MISTRAL, XAI } from "./strict";
import { DEEPSEEK, GEMINI_COMPATIBLE, KIMI, OPENROUTER } from "./thinking";

export const DOUBLES: readonly Double[] = [
  KIMI,
  DEEPSEEK,
  GEMINI_COMPATIBLE,
  MISTRAL,
  XAI,
  GROQ,
  OPENROUTER,
  VLLM,
  LLAMA_CPP,
  OLLAMA,
];
