import type { MadeCase } from "../made";
import type { UpstreamCase } from "../upstream";
import { BYTES } from "./bytes";
import { BYTES_OF_VENDORS } from "./bytes-of-vendors";
import { DOORS } from "./doors";
import { EMBEDDINGS } from "./embeddings";
import { ENDS } from "./ends";
import { ERRORS } from "./errors";
import { GEMINI } from "./gemini";
import { IMAGES } from "./images";
import { LIMITS } from "./limits";
import { MESSAGES } from "./messages";
import { MONEY } from "./money";
import { OPAQUE } from "./opaque";
import { PARALLEL_CALLS } from "./parallel-calls";
import { PICTURES } from "./pictures";
import { QUEUES } from "./queues";
import { RECORDED_CHAT } from "./recorded/chat";
import { RECORDED_GEMINI } from "./recorded/gemini";
import { RECORDED_MESSAGES } from "./recorded/messages";
import { RECORDED_RESPONSES } from "./recorded/responses";
import { REQUESTS } from "./requests";
import { RESPONSES } from "./responses";
import { SPEECH } from "./speech";
import { UNFRAMED } from "./unframed";

/** Cases that return text. */
export const CASES: readonly UpstreamCase[] = [
  ...ENDS,
  ...ERRORS,
  ...LIMITS,
  ...MONEY,
  ...BYTES,
  ...BYTES_OF_VENDORS,
  ...RESPONSES,
  ...MESSAGES,
  ...GEMINI,
  ...DOORS,
  ...PARALLEL_CALLS,
  ...UNFRAMED,
  ...RECORDED_CHAT,
  ...RECORDED_RESPONSES,
  ...RECORDED_MESSAGES,
  ...RECORDED_GEMINI,
  ...REQUESTS,
  ...PICTURES,
  ...OPAQUE,
];

/** Cases that return vectors, pictures, sound and meshes. */
export const MADE: readonly MadeCase[] = [...EMBEDDINGS, ...IMAGES, ...SPEECH, ...QUEUES];

/** The models of the compatible server as its setting lists them: each case of chat completions is a model. */
export const COMPATIBLE_MODELS = [
  ...CASES.filter(({ dialect }) => dialect === "chat").map(({ name }) => `${name}:1:2`),
  "embedder:1:embeddings",
].join(",");
