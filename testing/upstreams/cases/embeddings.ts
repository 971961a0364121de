import { json, type MadeCase, type MadeExpected, page } from "../made";

/*
 * Embeddings from a compatible server, at 1 US dollar a million tokens, and from Gemini in batches, at 0.15. Each request has
 * two texts.
 */

const VECTORS = [
  [0.5, -1, 0.25],
  [2, 0.125, 1],
];
const [FIRST = [], SECOND = []] = VECTORS;
const USAGE = { prompt_tokens: 7, total_tokens: 7 };
const COST = 7;

type Item = { index?: number | undefined; embedding: unknown };
const list = (data: Item[], members: object = {}) =>
  json({
    object: "list",
    model: "upstream-1",
    data: data.map((item) => ({ object: "embedding", ...item })),
    usage: USAGE,
    ...members,
  });
const inOrder = VECTORS.map((embedding, index) => ({ index, embedding }));
const base64 = (vector: number[]) => Buffer.from(Float32Array.from(vector).buffer).toString("base64");

const made: MadeExpected = { vectors: VECTORS, cost: COST };
const FULL: MadeExpected = { fails: "ProviderUnavailable", hold: "released", isSafe: true };
const WAITS = { headers: { "retry-after": "3600" } };
/** The vectors are not usable, and their cost is known. */
const unusable: MadeExpected = { fails: "PROVIDER_ERROR", cost: COST };

export const EMBEDDINGS: readonly MadeCase[] = [
  {
    name: "vectors-plain",
    from: ["https://platform.openai.com/docs/api-reference/embeddings"],
    maker: "embeddings",
    plays: { submit: list(inOrder) },
    expect: made,
  },
  {
    name: "vectors-of-mistral",
    from: ["@ai-sdk/mistral 3.0.11"],
    maker: "embeddings",
    plays: {
      submit: list(inOrder, {
        id: "b322cfc2b9d34e2f8e14fc99874faee5",
        usage: { ...USAGE, completion_tokens: 0 },
      }),
    },
    expect: made,
  },
  {
    name: "vectors-in-base64",
    from: ["https://platform.openai.com/docs/api-reference/embeddings"],
    maker: "embeddings",
    plays: { submit: list(VECTORS.map((vector, index) => ({ index, embedding: base64(vector) }))) },
    expect: made,
  },
  {
    name: "vectors-out-of-order",
    from: ["pydantic/pydantic-ai#7506", "getzep/graphiti#1732", "chroma-core/chroma#344"],
    maker: "embeddings",
    plays: { submit: list(inOrder.toReversed()) },
    expect: made,
  },
  {
    name: "vectors-without-index",
    from: ["doobidoo/mcp-memory-service#612"],
    maker: "embeddings",
    plays: { submit: list(VECTORS.map((embedding) => ({ embedding }))) },
    expect: made,
  },
  {
    name: "vectors-too-few",
    from: ["smaramwbc/statewave#225", "agno-agi/agno#10128"],
    maker: "embeddings",
    plays: { submit: list(inOrder.slice(0, 1)) },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: COST },
  },
  {
    name: "vectors-none",
    from: ["agno-agi/agno#10128"],
    maker: "embeddings",
    plays: { submit: list([]) },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: COST },
  },
  {
    name: "vectors-nan-in-base64",
    from: ["ollama/ollama#14739", "ollama/ollama#9639"],
    maker: "embeddings",
    plays: {
      submit: list([
        { index: 0, embedding: base64(FIRST) },
        { index: 1, embedding: base64([2, Number.NaN, 1]) },
      ]),
    },
    expect: unusable,
  },
  {
    name: "vectors-nan-as-null",
    from: ["ollama/ollama#14739", "HKUDS/LightRAG#1870"],
    maker: "embeddings",
    plays: {
      submit: list([
        { index: 0, embedding: FIRST },
        { index: 1, embedding: [2, null, 1] },
      ]),
    },
    expect: unusable,
  },
  {
    name: "vectors-nan-as-word",
    from: ["infiniflow/ragflow#15392"],
    maker: "embeddings",
    plays: {
      submit: { body: ['{"data":[{"embedding":[NaN,1]},{"embedding":[1,1]}],"usage":{"prompt_tokens":7}}'] },
    },
    // The usage is read, as for a vector with null.
    expect: { fails: "PROVIDER_ERROR" },
  },
  {
    name: "vectors-of-two-lengths",
    from: ["ollama/ollama#14739"],
    maker: "embeddings",
    plays: {
      submit: list([
        { index: 0, embedding: FIRST },
        { index: 1, embedding: SECOND.slice(1) },
      ]),
    },
    expect: unusable,
  },
  {
    name: "vectors-full-with-200",
    from: ["langchain-ai/langchain#29887", "nodetool-ai/nodetool#5755"],
    maker: "embeddings",
    plays: { submit: json({ error: { code: 429, message: "Rate limited." } }, WAITS) },
    expect: { ...FULL, said: { code: null, message: "Rate limited." } },
  },
  {
    name: "vectors-base-resp",
    from: ["langgenius/dify-official-plugins#3631", "oceanbase/powercontext#1653"],
    maker: "embeddings",
    plays: {
      submit: json({ vectors: null, base_resp: { status_code: 1002, status_msg: "rate limit" } }, WAITS),
    },
    expect: { ...FULL, said: { code: "1002", message: "rate limit" } },
  },
  {
    name: "vectors-refused-with-200",
    from: ["oceanbase/powercontext#1653"],
    maker: "embeddings",
    plays: { submit: json({ base_resp: { status_code: 2013, status_msg: "invalid params" } }) },
    expect: { fails: "ProviderRejected", hold: "released", isSafe: true },
  },
  {
    name: "vectors-usage-as-total",
    from: ["https://docs.voyageai.com/reference/embeddings-api"],
    maker: "embeddings",
    plays: { submit: list(inOrder, { usage: { total_tokens: 7 } }) },
    expect: made,
  },
  {
    name: "vectors-usage-as-zeros",
    from: ["https://github.com/ggml-org/llama.cpp/tree/master/tools/server"],
    maker: "embeddings",
    plays: { submit: list(inOrder, { usage: { prompt_tokens: 0, total_tokens: 0 } }) },
    expect: { vectors: VECTORS, isEstimated: true },
  },
  {
    name: "vectors-without-usage",
    from: ["doobidoo/mcp-memory-service#612"],
    maker: "embeddings",
    plays: { submit: list(inOrder, { usage: undefined }) },
    expect: { vectors: VECTORS, isEstimated: true },
  },
  {
    name: "vectors-page",
    from: ["langchain-ai/langchain#27817"],
    maker: "embeddings",
    plays: { submit: page(200) },
    expect: { fails: "PROVIDER_ERROR", hold: "released" },
  },
  {
    name: "batch-vectors-plain",
    from: ["https://ai.google.dev/api/embeddings"],
    maker: "batch-embeddings",
    plays: {
      submit: json({
        embeddings: VECTORS.map((values) => ({ values })),
        usageMetadata: { promptTokenCount: 20 },
      }),
    },
    expect: { vectors: VECTORS, cost: 3 },
  },
  {
    name: "batch-vectors-without-usage",
    from: ["https://ai.google.dev/api/embeddings"],
    maker: "batch-embeddings",
    plays: { submit: json({ embeddings: VECTORS.map((values) => ({ values })) }) },
    expect: { vectors: VECTORS, isEstimated: true },
  },
  {
    name: "batch-vectors-full-with-200",
    from: ["nodetool-ai/nodetool#5755"],
    maker: "batch-embeddings",
    plays: { submit: json({ error: { code: 429, message: "Quota.", status: "RESOURCE_EXHAUSTED" } }, WAITS) },
    expect: { ...FULL, said: { code: "RESOURCE_EXHAUSTED", message: "Quota." } },
  },
];
