import { z } from "zod";
import { StructuredOutput, TextInput } from "@/server/contract/inputs";
import { defineCapability } from "./define";
import { fitsText, gradeRank, outputCap, requireAnswer, toTextCall } from "./text/call";
import { inTokens, SHORT_TEXT, STRUCTURED_ERRORS, textFeatures } from "./text/kinds";
import {
  ImagePart,
  MAX_PICTURE_BYTES,
  MAX_PICTURES,
  MOST_PICTURE_PIXELS,
  readMessages,
} from "./text/pictures";
import {
  type AnswerShape,
  isNative,
  type Material,
  readJsonAnswer,
  repairInWords,
  shaped,
  shapeOf,
} from "./text/shape";

const OUTPUT_BUDGET = 8_192;
const CONTEXT_TOKENS = 128_000;

const Part = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  ImagePart,
]);
const Input = z.strictObject({
  messages: z
    .array(
      z.strictObject({
        role: z.enum(["system", "user", "assistant"]),
        content: z.union([z.string(), z.array(Part).min(1)]),
      }),
    )
    .min(1)
    .describe("The conversation so far, oldest message first. Pictures belong in user messages."),
  maxOutputTokens: TextInput.shape.maxOutputTokens,
  responseFormat: TextInput.shape.responseFormat,
});
type Input = z.output<typeof Input>;

const ANY_OBJECT: AnswerShape = { kind: "json", schema: null, isObject: true };

export default defineCapability<Input, StructuredOutput, Material>({
  key: "text.vision.structured.v1",
  title: "Structured vision",
  description:
    "Looks at pictures and answers with one JSON object: what is on them, what is written there, how they differ. With `responseSchema` beside the input, the answer must match that schema.",
  modality: "text",
  family: "text",
  category: "generation",
  modes: ["invoke_sync", "job_async"],
  input: Input,
  output: StructuredOutput,
  inputConstraints: { messages: inTokens(CONTEXT_TOKENS) },
  features: textFeatures(SHORT_TEXT, CONTEXT_TOKENS, {
    visionInput: true,
    jsonSchema: true,
    maxPictures: MAX_PICTURES,
    maxPictureBytes: MAX_PICTURE_BYTES,
    maxPicturePixels: MOST_PICTURE_PIXELS,
    errorCodes: STRUCTURED_ERRORS,
  }),
  inputMediaTypes: ["text/plain", "image/png", "image/jpeg", "image/webp"],
  outputKind: "structured",
  outputMediaType: "application/json",
  intentExamples: [
    "Describe this photo as JSON",
    "Read the fields of a scanned form",
    "Which of these product pictures shows damage?",
  ],
  synonyms: [
    "vision",
    "image understanding",
    "picture",
    "photo",
    "ocr",
    "screenshot",
    "describe image",
    "look at",
    "count objects",
    "on this picture",
    "how many",
    "read off",
    "handwriting",
    "scan",
    "image",
  ],
  taskTags: ["vision", "image-understanding", "ocr", "structured-output"],
  trialEligible: true,
  readySummary: "Pictures in, one JSON object out.",
  ...SHORT_TEXT,
  examples: [
    {
      title: "A picture",
      input: {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What colour is this? Answer as JSON." },
              {
                type: "image",
                mediaType: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
              },
            ],
          },
        ],
      },
    },
  ],
  execute: {
    port: "text",
    accepts: (_input, model) => Boolean(model.supports.vision) && model.imageTokens !== undefined,
    fits: fitsText,
    prefers: (_input, model) => 10 * Number(isNative(ANY_OBJECT, model)) + gradeRank(model, "fast"),
    materialize: async (input, _files, options = {}) => ({
      shape: await shapeOf(input, options, { isObject: true }),
      messages: await readMessages(input.messages),
    }),
    call: (input, options, model, { messages, shape }) =>
      shaped(toTextCall(messages, options, outputCap(input, model, OUTPUT_BUDGET)), shape, model),
    async result(result, _input, { material: { shape }, usage }) {
      const value = await readJsonAnswer(requireAnswer(result, usage), shape);
      return { typedOutput: value as StructuredOutput, files: [] }; // an object, since the shape requires one
    },
    repair: repairInWords<Input, Material>(({ shape }) => shape),
    bounds: (input, model) => ({ outputTokens: outputCap(input, model, OUTPUT_BUDGET) }),
  },
});
