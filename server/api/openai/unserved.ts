/* Paths of OpenAI's API that are not served here, and what to use instead. */

const NO_RESPONSES_KEPT =
  "Responses are stored as executions: read one with GET /v1/jobs/{id}, using the same id, and cancel one with POST /v1/jobs/{id}/cancel.";
const FILES = "Store a file with POST /v1/artifacts, and read it with GET /v1/artifacts/{artifact_id}.";
const NO_SESSIONS =
  "Conversations are not stored. Send the whole conversation to POST /v1/chat/completions or POST /v1/responses.";
const JOBS = "Create durable jobs with POST /v1/capabilities/{capability_key}/jobs.";
const REQUEST = "Request one with POST /v1/capability-requests.";

/** The alternative to a path and all paths below. */
const INSTEAD: Record<`/v1/${string}`, string> = {
  "/v1/assistants": NO_SESSIONS,
  "/v1/audio/transcriptions": `No capability transcribes speech. ${REQUEST}`,
  "/v1/audio/translations": `No capability translates speech. ${REQUEST}`,
  "/v1/audio/voices": "Use the provider's own voice names in `voice` of POST /v1/audio/speech.",
  "/v1/batches": `${JOBS} To run many inputs with one model, use POST /v1/inference/pinned/bulk.`,
  "/v1/chat/completions": "List executions with GET /v1/jobs, and read one with GET /v1/jobs/{id}.",
  "/v1/chatkit": NO_SESSIONS,
  "/v1/completions": "Send the prompt as a user message to POST /v1/chat/completions.",
  "/v1/containers": "Code execution is not supported.",
  "/v1/conversations": NO_SESSIONS,
  "/v1/edits": "Send the text and the instruction as messages to POST /v1/chat/completions.",
  "/v1/embeddings": "List executions with GET /v1/jobs.",
  "/v1/engines": "List models with GET /v1/models.",
  "/v1/evals": "Compare models with POST /v1/comparisons.",
  "/v1/files": FILES,
  "/v1/fine-tunes": "Training is not supported. Register existing LoRA weights with POST /v1/adapters.",
  "/v1/fine_tuning": "Training is not supported. Register existing LoRA weights with POST /v1/adapters.",
  "/v1/images": "Create an image with POST /v1/images/generations, or edit one with POST /v1/images/edits.",
  "/v1/models": "List models with GET /v1/models. Models cannot be deleted.",
  "/v1/moderations":
    "Classify a text with POST /v1/chat/completions and the model text.structured.adjudication.v1 or text.structured.generation.v1.",
  "/v1/realtime": "Stream a response with `stream: true` on POST /v1/chat/completions or POST /v1/responses.",
  "/v1/responses": NO_RESPONSES_KEPT,
  "/v1/skills": NO_SESSIONS,
  "/v1/threads": NO_SESSIONS,
  "/v1/uploads": FILES,
  "/v1/vector_stores":
    "Search is not supported. Create embeddings with POST /v1/embeddings and keep them in your own store.",
  "/v1/videos": "Create a video with POST /v1/capabilities/video.generate.v1/jobs.",
};

/** The alternative to a path of OpenAI's API that is not served, or not with this method; null for any other path. */
export function insteadOf(path: string): string | null {
  const parts = path.split("/");
  for (let length = parts.length; length > 2; length--) {
    const prefix = parts.slice(0, length).join("/");
    if (Object.hasOwn(INSTEAD, prefix)) return INSTEAD[prefix as keyof typeof INSTEAD] ?? null;
  }
  return null;
}
