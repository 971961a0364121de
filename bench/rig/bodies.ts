import { MARK } from "./load";

const SENTENCE = "Each of these lines tells the model a little more about what is wanted of it.\n";

/** Words that are one token each, however long: as much text in short words has more tokens than the capability takes. */
const LONG_WORDS =
  "International organizations understand professional responsibilities throughout development.\n";

/** Bytes of text that make a body of 400 KB. */
export const LARGE_TEXT = 400_000;

/** Makes a text of this many bytes that begins with the place of the key, so that no two requests are the same. */
function message(bytes: number): string {
  const sentence = bytes < LARGE_TEXT ? SENTENCE : LONG_WORDS;
  return `${MARK} ${sentence.repeat(Math.ceil(bytes / sentence.length))}`.slice(0, bytes);
}

const messages = (bytes: number) => [
  { role: "system", content: "You answer in one short sentence." },
  { role: "user", content: message(bytes) },
];

/** Bytes of text that make a body of 1.6 KB. */
export const USUAL_TEXT = 1_300;

/** Makes the body of a submission, to invoke or to jobs, for each of these projects. */
export const ourBodies = (projects: string[], bytes = USUAL_TEXT) =>
  projects.map((projectId) =>
    JSON.stringify({
      idempotencyKey: MARK,
      context: { projectId },
      input: { messages: messages(bytes), maxOutputTokens: 512 },
    }),
  );

/** Makes the same request as a chat completion, for the upstream itself and for other gateways. */
export const chatBodies = (bytes = USUAL_TEXT) => [
  JSON.stringify({ model: "bench", messages: messages(bytes), max_tokens: 512, user: MARK }),
];

export const CAPABILITY = "text.general.fast.v1";
