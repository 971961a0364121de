/* The rest of OpenAI's interface: paths that nothing serves here, and what does the same. */

const NO_RESPONSES_KEPT =
  "Answers are kept as executions: GET /v1/jobs/{id} reads one by the same id, POST /v1/jobs/{id}/cancel stops one.";
const FILES = "Store a file with POST /v1/artifacts, and read it with GET /v1/artifacts/{artifact_id}.";
const NO_SESSIONS =
  "Nothing is kept between requests: send the conversation whole to POST /v1/chat/completions or POST /v1/responses.";
const JOBS = "Submit work that may wait with POST /v1/capabilities/{capability_key}/jobs.";
const REQUEST = "Ask for the capability with POST /v1/capability-requests.";

/** What to use in place of a path and of all paths below it. */
const INSTEAD: Record<`/v1/${string}`, string> = {
  "/v1/assistants": NO_SESSIONS,
  "/v1/audio/transcriptions": `No capability writes down speech. ${REQUEST}`,
  "/v1/audio/translations": `No capability translates speech. ${REQUEST}`,
  "/v1/audio/voices": "Voices are the provider's own: name one in `voice` of POST /v1/audio/speech.",
  "/v1/batches": `${JOBS} Many equal questions to one model are POST /v1/inference/pinned/bulk.`,
  "/v1/chat/completions": "Executions are listed by GET /v1/jobs; GET /v1/jobs/{id} reads one by its id.",
  "/v1/chatkit": NO_SESSIONS,
  "/v1/completions": "Send the prompt as a message of the user to POST /v1/chat/completions.",
  "/v1/containers": "Code is not run here.",
  "/v1/conversations": NO_SESSIONS,
  "/v1/edits": "Send the text and the instruction as messages to POST /v1/chat/completions.",
  "/v1/embeddings": "Executions are listed by GET /v1/jobs.",
  "/v1/engines": "The models are listed by GET /v1/models.",
  "/v1/evals": "Compare models with POST /v1/comparisons.",
  "/v1/files": FILES,
  "/v1/fine-tunes": "Register LoRA weights with POST /v1/adapters; nothing is trained here.",
  "/v1/fine_tuning": "Register LoRA weights with POST /v1/adapters; nothing is trained here.",
  "/v1/images": "Change a picture with POST /v1/images/edits, draw one with POST /v1/images/generations.",
  "/v1/models": "The models are listed by GET /v1/models; none is deleted.",
  "/v1/moderations":
    "Judge a text with POST /v1/chat/completions and the model text.structured.adjudication.v1 or text.structured.generation.v1.",
  "/v1/realtime": "Follow an answer with `stream: true` on POST /v1/chat/completions or POST /v1/responses.",
  "/v1/responses": NO_RESPONSES_KEPT,
  "/v1/skills": NO_SESSIONS,
  "/v1/threads": NO_SESSIONS,
  "/v1/uploads": FILES,
  "/v1/vector_stores":
    "Make vectors with POST /v1/embeddings and keep them in a store of your own; nothing is searched here.",
  "/v1/videos": "Make a video with POST /v1/capabilities/video.generate.v1/jobs.",
};

/** What to use in place of a path of OpenAI's that is not served, or not with this method; null for any other path. */
export function insteadOf(path: string): string | null {
  const parts = path.split("/");
  for (let length = parts.length; length > 2; length--) {
    const prefix = parts.slice(0, length).join("/");
    if (Object.hasOwn(INSTEAD, prefix)) return INSTEAD[prefix as keyof typeof INSTEAD] ?? null;
  }
  return null;
}
