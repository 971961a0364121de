import * as catalog from "@/server/domain/catalog";

/* The kinds of OpenAI requests that are supported, and the capabilities that serve them. */

type Capability = (typeof catalog.allCapabilities)[number];

export type ModelKind = {
  /** The paths of this kind. */
  endpoints: readonly string[];
  capabilities: readonly Capability[];
  /** The capability that runs a model named without a capability. */
  ofAModel: string;
};

/** The text capabilities that answer a conversation synchronously. */
export const conversation: ModelKind = {
  endpoints: ["/v1/chat/completions", "/v1/responses"],
  capabilities: catalog.allCapabilities.filter(
    ({ modes, execute, input }) =>
      modes.includes("invoke_sync") &&
      "port" in execute &&
      execute.port === "text" &&
      "shape" in input &&
      "messages" in (input.shape as object), // the shape of an object's schema
  ),
  // This one accepts every text model.
  ofAModel: "text.general.fast.v1",
};

const ofOne = (key: string, ...endpoints: string[]): ModelKind => ({
  endpoints,
  capabilities: [catalog.getCapability(key)],
  ofAModel: key,
});

export const embeddings = ofOne("text.embed.v1", "/v1/embeddings");
export const drawing = ofOne("image.generate.v1", "/v1/images/generations");
export const editing = ofOne("image.edit.v1", "/v1/images/edits");
export const speech = ofOne("audio.voice.generate.v1", "/v1/audio/speech");

export const MODEL_KINDS: readonly ModelKind[] = [conversation, embeddings, drawing, editing, speech];
