/** A request that the demo sends: a capability, its input, and the other fields of the body. */
export type Request = { capability: string; input: object; more?: object };

/** Material of requests: a picture as base64 and as an artifact of the project, and a mesh once there is one. */
export type Sources = { bytes: string; picture: string; mesh: string };

const SUBJECTS = [
  "a lighthouse above a calm sea at dawn",
  "a red fox crossing a frozen river",
  "a brass telescope on an oak desk",
  "a market street in Lisbon after rain",
  "a greenhouse full of ferns",
  "a paper boat in a gutter, seen from above",
  "an old harbour crane at dusk",
  "a squat clockwork robot of brass",
  "a round red potion bottle",
  "a mountain hut in a snowstorm",
  "a tram climbing a steep hill",
  "a bowl of lemons on blue linen",
  "a wooden toy train with three wagons",
  "a night ferry under the northern lights",
  "a bookshop window in December",
  "a stone bridge over a slow river",
];
const TOPICS = [
  "why the tide is late each day",
  "the refund policy for opened goods",
  "how a lease is renewed without losing work",
  "what changed in release 2.4",
  "the difference between a quote and an estimate",
  "how to migrate a table without downtime",
  "why the night train to Vienna was cancelled",
  "the minutes of Tuesday's meeting",
  "three names for a bakery by the sea",
  "which clauses outlive the agreement",
  "how a capstan lifts an anchor",
  "what to cook with two courgettes and an egg",
];
const MATERIALS = ["weathered bronze", "painted wood", "glazed clay", "brushed steel"];
const LOCALES = ["de", "fr", "es", "it", "pl", "sv"];

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const asked = (content: string) => [{ role: "user", content }];

const OBJECT = {
  type: "object",
  properties: {
    name: { type: "string" },
    reasons: { type: "array", items: { type: "string" }, maxItems: 3 },
  },
  required: ["name", "reasons"],
  additionalProperties: false,
};
const model = (preferredModel: string) => ({ preferredModel });

type Maker = (subject: string, topic: string, turn: number, sources: Sources) => Request;
const text =
  (capability: string, words: string): Maker =>
  (_, topic) => ({
    capability,
    input: { messages: asked(`${words} ${topic}.`) },
  });

/** One maker for each kind of request, used in turn; common kinds have several. */
const MAKERS: Maker[] = [
  text("text.general.fast.v1", "Explain in one paragraph:"),
  (subject) => ({ capability: "image.generate.v1", input: { prompt: sentence(subject) } }),
  text("text.general.fast.v1", "Write a friendly summary of"),
  (_, topic) => ({
    capability: "text.structured.generation.v1",
    input: { messages: asked(`Collect the facts about ${topic}.`), responseSchema: OBJECT },
  }),
  (subject, _, turn) => ({
    capability: "image.generate.v1",
    input: { prompt: `${sentence(subject)}, watercolour`, variantCount: 2 + (turn % 3) },
    more: { preferredModel: "sandbox-2" },
  }),
  (_, topic, turn) => ({
    capability: "text.translate.v1",
    input: {
      sourceLocale: "en",
      targetLocale: LOCALES[turn % LOCALES.length] ?? "de",
      items: [{ id: "title", text: sentence(topic) }],
    },
  }),
  text("text.reasoning.high.v1", "Reason step by step about"),
  (subject) => ({
    capability: "audio.sfx.generate.v1",
    input: { prompt: `The sound of ${subject}`, durationMs: 1_500 },
  }),
  (_, topic) => ({
    capability: "text.structured.extraction.v1",
    input: { document: `Invoice 2026-114\nFor: ${topic}\nTotal: 118.40 EUR`, schema: OBJECT },
  }),
  (_, topic) => ({
    capability: "text.general.fast.v1",
    input: { messages: asked(`Answer about ${topic}.`) },
    more: model("sandbox-fail"),
  }),
  (_, __, turn) => ({
    capability: "compute.evaluate.v1",
    input: {
      expression: `round(price * ${turn + 2} * (1 + tax), 2)`,
      variables: { price: "19.99", tax: "0.19" },
    },
  }),
  (subject) => ({
    capability: "audio.voice.generate.v1",
    input: { text: `This is ${subject}, one of twelve.`, voiceId: "alloy" },
  }),
  text("text.creative.longform.v1", "Write a story in 12 paragraphs about"),
  (_, topic) => ({
    capability: "text.embed.v1",
    input: { texts: [sentence(topic), "How deep is the water?"], dimensions: 256 },
  }),
  (subject, _, turn) => ({
    capability: "image.generate.v1",
    input: {
      prompt: `Sprites of ${subject}`,
      requestTransparentOutput: true,
      width: turn % 2 ? 1536 : 1024,
      height: 1024,
    },
  }),
  (subject, _, __, { bytes }) => ({
    capability: "image.edit.v1",
    input: {
      prompt: `Put ${subject} into the picture`,
      sourceImage: { dataBase64: bytes, filename: "sketch.png", mimeType: "image/png" },
    },
  }),
  (_, topic) => ({
    capability: "text.structured.ranking.v1",
    input: {
      messages: asked(`Rank these by what they say about ${topic}:\na: Bridge reopens\nb: Council meets`),
      responseSchema: OBJECT,
    },
  }),
  (subject) => ({
    capability: "audio.music.generate.v1",
    input: { prompt: `Calm piano for ${subject}`, durationMs: 10_000 },
  }),
  (subject, _, turn) => ({
    capability: "domain.search.v1",
    input: { domain: `${subject.replace(/\W+/g, "-").slice(0, 24)}-${turn}.com` },
  }),
  (subject) => ({
    capability: "image.generate.v1",
    input: { prompt: sentence(subject) },
    more: model("sandbox-refuse"),
  }),
  (subject) => ({
    capability: "video.generate.v1",
    input: { prompt: sentence(subject), durationSeconds: 4 },
  }),
  (_, topic) => ({
    capability: "text.structured.adjudication.v1",
    input: { messages: asked(`Decide the case of ${topic}.`), responseSchema: OBJECT },
  }),
  (_, __, turn, { picture }) => ({
    capability: "model.generate.3d.v1",
    input: {
      inputArtifactIds: [picture],
      meshSettings: { shouldTexture: true, texturePrompt: MATERIALS[turn % MATERIALS.length] ?? "Bronze" },
    },
  }),
  (_, topic) => ({
    capability: "document.verify.v1",
    input: {
      document: { text: `Invoice 2026-114\nFor: ${topic}\nTotal: 118.40 EUR` },
      fields: [{ name: "total", question: "What is the total?", expected: 118.4 }],
    },
  }),
  (_, topic, __, { bytes }) => ({
    capability: "text.vision.structured.v1",
    input: {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: `What does this sketch say about ${topic}?` },
            { type: "image", mediaType: "image/png", data: bytes },
          ],
        },
      ],
    },
  }),
  (_, __, ___, { picture }) => ({
    capability: "model.generate.3d.from-image.v1",
    input: { baseArtifactId: picture },
  }),
  () => ({ capability: "domain.pricing.v1", input: { tlds: ["com", "dev"] } }),
  (_, topic) => ({
    capability: "compute.evaluate.v1",
    input: { expression: "1 / 0" },
    more: { tags: [topic.split(" ")[0] ?? "maths"] },
  }),
  text("text.reasoning.maximum.v1", "Review in depth, with a source for each statement:"),
  (_, __, ___, { mesh }) => ({
    capability: "3d.render_reference.v1",
    input: { source: { artifactId: mesh }, output: "image", view: "front" },
  }),
  (subject) => ({
    capability: "image.generate.v1",
    input: { prompt: `${sentence(subject)}, as four icons`, variantCount: 4 },
    more: model("sandbox-partial"),
  }),
  (_, topic) => ({
    capability: "text.general.fast.v1",
    input: { messages: asked(`Draft an answer to a customer about ${topic}.`) },
    more: { context: { dataClassification: "PrivateUserContent" } },
  }),
];

/** Number of kinds of requests in one round. */
export const DEMO_KINDS = MAKERS.length;

/** A mesh from the picture, from which other requests are made. */
export const meshOf = (picture: string): Request => ({
  capability: "model.generate.3d.v1",
  input: {
    inputArtifactIds: [picture],
    meshSettings: { shouldTexture: true, texturePrompt: "Weathered bronze" },
  },
});

/** The n-th request of the demo. */
export function requestAt(n: number, sources: Sources): Request {
  const turn = Math.floor(n / DEMO_KINDS);
  const subject = SUBJECTS[(n + turn) % SUBJECTS.length] ?? "a lighthouse";
  const topic = TOPICS[(n + turn) % TOPICS.length] ?? "the tide";
  const make = MAKERS[n % DEMO_KINDS] ?? text("text.general.fast.v1", "Explain");
  return make(subject, topic, turn, sources);
}

/** Requests that wait for approval, each with a cost worth a look. */
export const WAITING: Request[] = SUBJECTS.slice(0, 12).map((subject, n) =>
  n % 4 === 3
    ? { capability: "video.generate.v1", input: { prompt: sentence(subject), durationSeconds: 4 } }
    : {
        capability: "image.generate.v1",
        input: { prompt: `${sentence(subject)}, for the catalogue`, variantCount: 1 + (n % 4) },
      },
);

/** A paid answer that cannot be processed, which waits for an operator. */
export const ATTENTION: Request = {
  capability: "image.generate.v1",
  input: { prompt: "Four doors, as a sheet", sheet: { rows: 2, columns: 2, slice: true } },
  more: model("sandbox-garbled"),
};

/** A call whose answer is lost, so that its charge stays unconfirmed. */
export const LOST_REQUEST: Request = {
  capability: "text.general.fast.v1",
  input: { messages: asked("Which ships left the harbour before nine?") },
  more: model("sandbox-lost"),
};

/** A call that works for almost ten minutes, the longest that it may. */
export const LONG_REQUEST: Request = {
  capability: "text.general.fast.v1",
  input: {
    messages: [
      { role: "system", content: "[slow 580000]" },
      ...asked("Read the logbook of the Endurance and list every position."),
    ],
  },
  more: { ...model("sandbox-mixed"), maxDurationSeconds: 600 },
};
