import type { FamilyName } from "@/server/contract/model-families";
import type { Secret } from "@/server/platform/crypto/secret";
import type { Json } from "@/server/platform/durable/step";
import type { Delivered, OnText, TextCall, TextResult, TextSetting } from "./conversation";
import type { ImageQuality, Price, Tier } from "./price";
import type { RequestRules } from "./request-rules";

/** What a provider reports it used; a figure it did not report is absent, never zero. */
export type Usage = {
  inputTokens?: number;
  cachedInputTokens?: number;
  /** The part of the input that was written to a cache, and the part of that which stays there for an hour. */
  cacheWriteTokens?: number;
  cacheWriteHourTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  images?: number;
  /** Length of what was made, of video and music. */
  durationMs?: number;
  /** Unicode characters read, of speech. */
  characters?: number;
  meshes?: number;
  /** Calls that cost the same whatever they ask. */
  requests?: number;
  /** What the provider says the work costs, by its own bill; rounded to a whole micro. */
  reportedCostMicros?: number;
};

export * from "./conversation";
export * from "./price";

/** A picture as the address that carries it, for vendors that take addresses. */
export const toDataUrl = ({ mediaType, bytes }: Pick<ProviderFile, "mediaType" | "bytes">): string =>
  `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;

/** The image port: sizes in pixels, already snapped to what the model takes. */
export type ImageCall = {
  prompt: string;
  width: number;
  height: number;
  quality: ImageQuality;
  count: number;
  /** Draw on nothing, with an alpha channel. */
  transparent: boolean;
  /** Also in the prompt, in words; for providers that can do more with it. */
  background?: string;
  sheet?: { rows: number; columns: number };
  referenceImages: NamedFile[];
  /** The picture to be changed, for models that say `supports.edit`; absent: one is drawn anew. */
  source?: NamedFile;
  /** Where the source may change: its transparent pixels. For models that say `supports.mask`. */
  mask?: NamedFile;
  /** LoRA weights by their address, or by the vendor's own word for them (`adapterReference`), for models that say `supports.adapters`. */
  adapters?: { url: string; weight: number }[];
};
export type ProviderFile = { bytes: Uint8Array; mediaType: string };
export type NamedFile = ProviderFile & { filename: string };
/** Fewer than were asked for: the others failed. None is no success. */
export type ImageResult = { images: ProviderFile[] };

/** What audio comes in: Ogg (Opus or Vorbis), or MP3. */
export type AudioContainer = "ogg" | "mp3";

/** The speech port: one voice reads one text, `count` times. */
export type SpeechCall = {
  text: string;
  voiceId: string;
  count: number;
  seed?: number;
  settings?: {
    stability?: number;
    similarityBoost?: number;
    style?: number;
    speed?: number;
    useSpeakerBoost?: boolean;
  };
  /** The takes are to differ from each other. */
  diverse: boolean;
  container: AudioContainer;
  /** A format of the vendor's own that the caller prefers; one it does not know is refused. */
  format?: string;
  /** Fields of the vendor's own; only those its adapter names are sent, any other is refused. */
  extensions?: Record<string, Json>;
};
export type MusicCall = {
  prompt: string;
  durationMs: number;
  count: number;
  instrumental: boolean;
  container: AudioContainer;
  extensions?: Record<string, Json>;
};
export type SoundCall = {
  prompt: string;
  durationMs: number;
  count: number;
  /** 0 to 1: how closely the prompt is followed. */
  promptInfluence?: number;
  diverse: boolean;
  container: AudioContainer;
  extensions?: Record<string, Json>;
};
/** Fewer takes than were asked for: the others failed. */
export type AudioResult = { takes: ProviderFile[] };

export type VideoCall = {
  prompt: string;
  aspectRatio: "16:9" | "9:16";
  durationSeconds: number;
  /** Absent: the model's own. */
  resolution?: "720p" | "1080p";
  referenceImages: NamedFile[];
};
export type VideoResult = { videos: ProviderFile[] };

/** The mesh port: one to four views of one object become one GLB. */
export type MeshCall = {
  images: ProviderFile[];
  profile: "draft_fast" | "toy_default" | "clean_game_mesh" | "hero_hd" | "enhanced_retry";
  /** Null: the bare shape. */
  texture: { prompt?: string; image?: ProviderFile; mode?: string } | null;
};
export type MeshResult = { mesh: ProviderFile };

/** The registrar port: looks up names and prices. It buys nothing. */
export type RegistrarCall = { kind: "availability"; domain: string } | { kind: "pricing"; tlds: string[] };
/** A price the registrar does not name is null. */
export type DomainPrices = {
  firstYearMicros: number | null;
  renewalMicros: number | null;
  transferMicros: number | null;
};
export type RegistrarResult =
  | {
      kind: "availability";
      domain: string;
      available: boolean;
      premium: boolean;
      prices: DomainPrices;
      agreement: { url: string; version: string } | null;
    }
  | { kind: "pricing"; tlds: ({ tld: string } & DomainPrices)[] }
  /** Nothing is sold under this ending. */
  | { kind: "unsupported"; tld: string };

/** The embedding port: each text becomes one vector, in their order. */
export type EmbeddingCall = {
  texts: string[];
  /** Shorter vectors than the model's own, for models that say `embedding.leastDimensions`. */
  dimensions?: number;
};
/** Fewer vectors than texts: the others failed. */
export type EmbeddingResult = { vectors: Float32Array[] };

export type Ports = {
  text: { call: TextCall; result: TextResult };
  image: { call: ImageCall; result: ImageResult };
  speech: { call: SpeechCall; result: AudioResult };
  music: { call: MusicCall; result: AudioResult };
  sound: { call: SoundCall; result: AudioResult };
  video: { call: VideoCall; result: VideoResult };
  mesh: { call: MeshCall; result: MeshResult };
  registrar: { call: RegistrarCall; result: RegistrarResult };
  embedding: { call: EmbeddingCall; result: EmbeddingResult };
};
/** A call of any port; its port decides which. */
export type AnyCall = Ports[keyof Ports]["call"];
export type PortName = keyof Ports;

/** `done`: the provider answered whole. `pending`: it took the work and wants to be asked again with this handle. */
export type Progress<R> =
  | {
      state: "done";
      result: R;
      /** Null: the provider reported no usage. */
      usage: Usage | null;
      providerRequestId: string | null;
      /** What was written, where the usage does not say how much that was. */
      delivered?: Delivered;
      /** The model that answered, by the provider's own word. */
      providerModel: string | null;
      /** The tier it ran on, by the provider's own word. Absent: it said nothing. */
      tier?: Tier;
      httpStatus: number;
    }
  | { state: "pending"; handle: Json; pollAfterMs: number; progress?: ReportedProgress };

/** How far a provider says its work is. What it does not report is absent, never guessed. */
export type ReportedProgress = { phase: string; step: string; percent?: number; etaSeconds?: number };

/** Did the request leave? `not_attempted` only when the socket never opened. */
export type SubmissionState = "not_attempted" | "ambiguous" | "attempted";

/** refused: a definite no. capacity: 429 or overloaded. unreachable: never sent. failed: answered badly. lost: sent, no answer. */
export type FaultKind = "refused" | "capacity" | "unreachable" | "failed" | "lost";

/** What a vendor says of a failure: bounded, without secrets, and for the people of the account alone. */
export type VendorWords = {
  /** Its own word for it, such as `insufficient_quota`: may be shown to everybody who sees the failure. */
  code: string | null;
  message: string | null;
};

type FaultDetails = {
  status?: number;
  providerRequestId?: string;
  retryAfterMs?: number;
  usage?: Usage | null;
  /** The tier that ran, by the provider's word. */
  tier?: Tier;
  /** Of a poll: the request failed, which says nothing about the work it asks for. */
  concerns?: "request";
  vendor?: VendorWords | null;
  /** What was delivered before the provider failed: it is charged where no usage is reported. */
  delivered?: Delivered;
  /** Our own signal ended the call (execution limit or cancel), not the provider or the network. */
  aborted?: boolean;
};

/** The one error of provider calls. `message` is safe to show; what the vendor said is in `vendor`. */
export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
  readonly details: FaultDetails;
  constructor(
    readonly kind: FaultKind,
    readonly submission: SubmissionState,
    message: string,
    { cause, ...details }: FaultDetails & { cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.details = details;
  }
}

/** Refuses a call its model cannot serve, before anything is sent. */
export function refuseCall(message: string): never {
  throw new ProviderFault("refused", "not_attempted", message);
}

/** What the domain hands a provider for one call. */
export type ProviderIo = {
  /** Origin and path prefix, without a trailing slash. Credentials go to this origin only. */
  baseUrl: string;
  credentials: Record<string, Secret>;
  model: ModelFacts;
  /** Stable per attempt: for logs of both sides and for the sandbox's submissions log. */
  attemptId: string;
  /** `flex` only for models that say `supports.deferred`; `standard` is asked for by saying nothing. */
  tier: Tier;
  /** Aborts at the execution limit or on cancel. */
  signal: AbortSignal;
  /** Loopback and private addresses may be reached (the sandbox's own process, or ALLOW_PRIVATE_ADDRESSES). */
  allowPrivateAddresses: boolean;
  /** The base URL is the operator's own for this provider. Unset: a caller or a vendor named it. */
  isOperatorsAddress?: boolean;
  /** Request members that the server takes for this model, as far as learned. */
  rules?: RequestRules;
  /** Keeps what was found out for later calls; never rejects. */
  learn?(rules: RequestRules): Promise<void>;
};

/** An account at a vendor and how it is reached, without any work for it. */
export type ProviderAccount = Omit<ProviderIo, "model" | "attemptId" | "tier" | "rules" | "learn">;

/** One port as a provider serves it. `submit` and `stream` never loop or retry; `poll` asks once. */
export type PortAdapter<P extends PortName> = {
  /** The vendor's own interface behind it, as receipts name it: `responses`, `chat-completions`, `images`. */
  api: string;
  submit(call: Ports[P]["call"], io: ProviderIo): Promise<Progress<Ports[P]["result"]>>;
  /**
   * The same submission, its text streamed piece by piece as the vendor writes it; the pieces together are the result's
   * text. An answer without its end is `lost`, however much was streamed. Served for models that say `supports.stream`.
   */
  stream?(call: Ports[P]["call"], io: ProviderIo, onText: OnText): Promise<Progress<Ports[P]["result"]>>;
  poll?(handle: Json, io: ProviderIo): Promise<Progress<Ports[P]["result"]>>;
};

/** What kind of text work a model is made for; one may be made for several. */
export type TextGrade = "fast" | "reasoning" | "frontier" | "longform";

export type AudioFacts = {
  /** The only voices there are, by their names; absent: voices are ids of the vendor's. */
  voices?: string[];
  /** Settings of a voice the model follows. */
  settings?: (keyof NonNullable<SpeechCall["settings"]>)[];
  /** Formats by the vendor's names for them, that come as Ogg or MP3. */
  formats?: string[];
  /** Fields of the vendor's own that its adapter passes on, and what each may be: words to choose from, or a type. */
  extensions?: Record<string, "string" | "boolean" | string[]>;
};

export type ModelFacts = {
  id: string;
  port: PortName;
  title: string;
  price: Price;
  contextWindow?: number;
  /** At least this many UTF-8 bytes go into one token; absent: one. Makes bounds of tokens tighter. */
  tokenBytes?: number;
  /** The vendor's tokenizer, where it is known: makes bounds of tokens as tight as can be. */
  tokenizer?: "o200k_base";
  maxOutputTokens?: number;
  /** How many times its visible output a model may use in all; 1: it hides none. Absent: not known. */
  hiddenOutput?: number;
  /** Features a call may ask of the model; a call that asks for another is refused before quoting. */
  supports: {
    jsonObject?: boolean;
    jsonSchema?: boolean;
    temperature?: boolean;
    reasoning?: boolean;
    tools?: boolean;
    /** It can be made to call a tool, whichever or a certain one. */
    forcedTools?: boolean;
    transparency?: boolean;
    referenceImages?: boolean;
    /** Work may wait for the provider's flex tier; its discount is at the price. */
    deferred?: boolean;
    stream?: boolean;
    /** Reads pictures in messages. */
    vision?: boolean;
    /** Changes a given picture; `mask`: only where the mask says. */
    edit?: boolean;
    mask?: boolean;
    /** Takes LoRA weights, of the `families`. */
    adapters?: boolean;
    /** Follows a texture prompt and a texture picture at once. */
    textureByBoth?: boolean;
    seed?: boolean;
  };
  /** Of text: the settings it takes. One that is not named here is refused before quoting. */
  takes?: TextSetting[];
  /** Of text on servers of others: the members of a request that are passed on as they came (`isListed`). */
  members?: string[];
  grades?: TextGrade[];
  /** Of models that say `supports.adapters`: the families of base models whose LoRA weights fit. */
  families?: FamilyName[];
  /** How many of them one picture takes; absent: as many as anybody may ask for. */
  mostAdapters?: number;
  /** Tokens one picture in a message counts as, at most; of models that say `supports.vision`. */
  imageTokens?: number;
  /**
   * How its pixels count, below that: a picture is cut into squares of `edge` pixels, begun ones too, and a hundred of them are
   * `tokensPerHundred` tokens (absent: 100). `least`: for servers that enlarge small ones. Absent: each counts `imageTokens`.
   */
  imagePatch?: { edge: number; tokensPerHundred?: number; least?: number };
  /** Unicode characters one text to be read or embedded may have, at most. */
  maxCharacters?: number;
  /**
   * Of embedding models: how long their vectors are, and how short they may be asked for. Where `dimensions` is absent only
   * the server knows; where `leastDimensions` is, they have one length.
   */
  embedding?: { dimensions?: number; leastDimensions?: number };
  /** Of speech, music and sound: what of a call is this model's own. What is not named here is refused before quoting. */
  audio?: AudioFacts;
  /** Lengths a music, sound or video model makes, in milliseconds. */
  duration?: { minMs: number; maxMs: number };
  /** Of video models: the only lengths they make in whole seconds (absent: any within `duration`), and how sharp. */
  video?: { seconds?: number[]; resolutions: ("720p" | "1080p")[]; maxReferenceImages?: number };
  image?: {
    minEdge: number;
    maxEdge: number;
    multipleOf: number;
    minPixels: number;
    maxPixels: number;
    maxAspectRatio: number;
    /** The only sizes the model takes; absent: any within the bounds. */
    sizes?: { width: number; height: number }[];
  };
  /** The highest rating of content this model may be asked for, where it is not its provider's. */
  maturity?: MaturityRating;
  /** Only chosen when asked for by name (preferredModel, providerPin, pin). */
  onlyByName?: boolean;
};

/** Does an embedding model make vectors of this length? Undefined: of its own. */
export function takesDimensions(asked: number | undefined, { embedding }: ModelFacts): boolean {
  const { dimensions: own, leastDimensions: least } = embedding ?? {};
  if (asked === undefined || asked === own) return true;
  return own === undefined || (least !== undefined && asked >= least && asked <= own);
}

/** How mature content may be, as films are rated, from G up. */
export const RATINGS = ["G", "PG", "PG13", "R", "NC17"] as const;
export type MaturityRating = (typeof RATINGS)[number];
