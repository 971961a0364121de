import type { FamilyName } from "@/server/contract/model-families";
import type { Secret } from "@/server/platform/crypto/secret";
import type { Json } from "@/server/platform/durable/step";
import type { Delivered, OnText, TextCall, TextResult, TextSetting } from "./conversation";
import type { ImageQuality, Price, Tier } from "./price";
import type { RequestRules } from "./request-rules";

/** Usage of a call; a figure that the provider, the request and the answer do not show is absent, never zero. */
export type Usage = {
  inputTokens?: number;
  cachedInputTokens?: number;
  /** Input tokens written to the cache, and how many of them stay there for an hour. */
  cacheWriteTokens?: number;
  cacheWriteHourTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  images?: number;
  /** Length of the output, for video and music. */
  durationMs?: number;
  /** Unicode characters read aloud, for speech, as billed: some voices count a multiple. */
  characters?: number;
  meshes?: number;
  /** Number of calls, for models with a price per call. */
  requests?: number;
  /** Cost that the provider reports on its own bill, rounded to a whole micro. */
  reportedCostMicros?: number;
};

export * from "./conversation";
export * from "./price";

/** A picture as a data URL, for vendors that accept URLs. */
export const toDataUrl = ({ mediaType, bytes }: Pick<ProviderFile, "mediaType" | "bytes">): string =>
  `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;

/** A call of the image port. Sizes are in pixels and already fit the model. */
export type ImageCall = {
  prompt: string;
  width: number;
  height: number;
  quality: ImageQuality;
  count: number;
  /** Draw a transparent background, with an alpha channel. */
  transparent: boolean;
  /** The background color. The prompt names it too; this field is for providers that can use it directly. */
  background?: string;
  sheet?: { rows: number; columns: number };
  referenceImages: NamedFile[];
  /** The picture to edit, for models with `supports.edit`; absent draws a new one. */
  source?: NamedFile;
  /** Transparent pixels mark where the source can change; for models with `supports.mask`. */
  mask?: NamedFile;
  /**
   * LoRA weights by URL, or by the vendor's own reference (`adapterReference`); for models with `supports.adapters`.
   */
  adapters?: { url: string; weight: number }[];
};
export type ProviderFile = { bytes: Uint8Array; mediaType: string };
export type NamedFile = ProviderFile & { filename: string };
/** Fewer images than requested if some failed; an empty list is not a success. */
export type ImageResult = { images: ProviderFile[] };

/** Containers of audio: Ogg (Opus or Vorbis), or MP3. */
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
  /** The takes should differ from each other. */
  diverse: boolean;
  container: AudioContainer;
  /** A vendor's own format that the caller prefers; an unknown one is refused. */
  format?: string;
  /** A vendor's own fields, only those that the model's facts list; the capability drops any other. */
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
  /** Closeness to the prompt, from 0 to 1. */
  promptInfluence?: number;
  diverse: boolean;
  container: AudioContainer;
  extensions?: Record<string, Json>;
};
/** Fewer takes than requested if some failed. */
export type AudioResult = { takes: ProviderFile[] };

export type VideoCall = {
  prompt: string;
  aspectRatio: "16:9" | "9:16";
  durationSeconds: number;
  /** Absent selects the model's default. */
  resolution?: "720p" | "1080p";
  referenceImages: NamedFile[];
};
export type VideoResult = { videos: ProviderFile[] };

/** The mesh port: one to four views of one object become one GLB. */
export type MeshCall = {
  images: ProviderFile[];
  profile: "draft_fast" | "toy_default" | "clean_game_mesh" | "hero_hd" | "enhanced_retry";
  /** Null for a mesh without texture. */
  texture: { prompt?: string; image?: ProviderFile; mode?: string } | null;
};
export type MeshResult = { mesh: ProviderFile };

/** The registrar port: looks up names and prices. It never buys. */
export type RegistrarCall = { kind: "availability"; domain: string } | { kind: "pricing"; tlds: string[] };
/** A price is null if the registrar does not state it. */
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
  /** The registrar sells no names under this top-level domain. */
  | { kind: "unsupported"; tld: string };

/** The embedding port: one vector per text, in the same order. */
export type EmbeddingCall = {
  texts: string[];
  /** The requested length of the vectors (`takesDimensions`); absent for the model's own. */
  dimensions?: number;
};
/** Fewer vectors than texts if some failed. */
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

/**
 * `done`: the provider returned a complete answer. `pending`: it accepted the work and must be polled with this handle.
 */
export type Progress<R> =
  | {
      state: "done";
      result: R;
      /** Null if the provider reported no usage. */
      usage: Usage | null;
      providerRequestId: string | null;
      /** The written output, if the usage does not count it. */
      delivered?: Delivered;
      /** The model that answered, as the provider named it. */
      providerModel: string | null;
      /** The tier that ran, as the provider reported it; absent if it reported none. */
      tier?: Tier;
      httpStatus: number;
    }
  | { state: "pending"; handle: Json; pollAfterMs: number; progress?: ReportedProgress };

/** Progress as the provider reports it. A value it does not report is absent, never guessed. */
export type ReportedProgress = { phase: string; step: string; percent?: number; etaSeconds?: number };

/** Progress of a submission. `not_attempted` only if nothing was sent. */
export type SubmissionState = "not_attempted" | "ambiguous" | "attempted";

/**
 * `refused`: a definite no. `capacity`: 429 or overloaded. `unreachable`: never sent. `failed`: a bad answer. `lost`:
 * sent, but not answered.
 */
export type FaultKind = "refused" | "capacity" | "unreachable" | "failed" | "lost";

/** A vendor's error text: limited in length, without secrets, and shown only to people of the account. */
export type VendorWords = {
  /** The vendor's error code, such as `insufficient_quota`; anyone who sees the failure may see it. */
  code: string | null;
  message: string | null;
};

type FaultDetails = {
  status?: number;
  providerRequestId?: string;
  retryAfterMs?: number;
  usage?: Usage | null;
  /** The tier that ran, as the provider reported it. */
  tier?: Tier;
  /** Set if the request itself failed. After a poll, such a fault says nothing about the work that was polled. */
  concerns?: "request";
  vendor?: VendorWords | null;
  /** Output delivered before the provider failed; it is charged if no usage is reported. */
  delivered?: Delivered;
  /** Our own signal ended the call (execution limit or cancel), not the provider or the network. */
  aborted?: boolean;
};

/** The only error of provider calls. `message` is safe to show; the vendor's own text is in `vendor`. */
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

/** Refuses a call that the model cannot serve, before anything is sent. */
export function refuseCall(message: string): never {
  throw new ProviderFault("refused", "not_attempted", message);
}

/** Context of one provider call, supplied by the domain. */
export type ProviderIo = {
  /** Origin, path prefix and query; a trailing slash is ignored. Credentials are sent only to this origin. */
  baseUrl: string;
  credentials: Record<string, Secret>;
  model: ModelFacts;
  /** Stable per attempt; appears in the logs of both sides and in the sandbox's log of submissions. */
  attemptId: string;
  /** `flex` is allowed only for models with `supports.deferred`; `standard` adds nothing to the request. */
  tier: Tier;
  /** Aborts at the execution limit or on cancel. */
  signal: AbortSignal;
  /** Loopback and private addresses are allowed (the sandbox's own process, or ALLOW_PRIVATE_ADDRESSES). */
  allowPrivateAddresses: boolean;
  /** The operator configured this base URL; unset if a caller or a vendor named it. */
  isOperatorsAddress?: boolean;
  /** Request members that the server accepts for this model, as far as learned. */
  rules?: RequestRules;
  /** Stores learned rules for later calls; never rejects. */
  learn?(rules: RequestRules): Promise<void>;
};

/** A vendor account and its address, without a call. */
export type ProviderAccount = Omit<ProviderIo, "model" | "attemptId" | "tier" | "rules" | "learn">;

/**
 * One port of a provider. `submit` and `stream` do not wait for queued work and do not retry a failed request. They can
 * send several requests: one for each take or batch, and another after each refused member (`asTaken`). `poll` asks
 * once.
 */
export type PortAdapter<P extends PortName> = {
  /** The vendor's interface, as receipts name it: `responses`, `chat-completions`, `images`. */
  api: string;
  submit(call: Ports[P]["call"], io: ProviderIo): Promise<Progress<Ports[P]["result"]>>;
  /**
   * Submits like `submit` and streams the text as the vendor writes it; all pieces together are the result's text. An
   * answer without its end is `lost`, however much was streamed. Used for models with `supports.stream`.
   */
  stream?(call: Ports[P]["call"], io: ProviderIo, onText: OnText): Promise<Progress<Ports[P]["result"]>>;
  poll?(handle: Json, io: ProviderIo): Promise<Progress<Ports[P]["result"]>>;
};

/** A kind of text work that a model is made for; a model can have several. */
export type TextGrade = "fast" | "reasoning" | "frontier" | "longform";

type AudioFacts = {
  /** The complete list of voices by name; absent if voices are ids of the vendor. */
  voices?: string[];
  /** Voice settings that the model supports. */
  settings?: (keyof NonNullable<SpeechCall["settings"]>)[];
  /** The vendor's names of formats that result in Ogg or MP3. */
  formats?: string[];
  /** A vendor's own fields that the adapter passes on, with the allowed words or the type of each. */
  extensions?: Record<string, "string" | "boolean" | string[]>;
};

export type ModelFacts = {
  id: string;
  port: PortName;
  title: string;
  price: Price;
  contextWindow?: number;
  /** Minimum UTF-8 bytes per token, which tightens token bounds; absent means one. */
  tokenBytes?: number;
  /** The vendor's tokenizer if known; messages of up to 256 KiB are then counted, not bounded by their bytes. */
  tokenizer?: "o200k_base";
  maxOutputTokens?: number;
  /**
   * Factor from visible output tokens to all of them, by which an answer without a usage is estimated. 1 means that the
   * model hides none; absent if unknown.
   */
  hiddenOutput?: number;
  /** Features a call can use; a call that needs another feature is refused before quoting. */
  supports: {
    jsonObject?: boolean;
    jsonSchema?: boolean;
    temperature?: boolean;
    reasoning?: boolean;
    tools?: boolean;
    /** A tool call can be forced: any tool, or a named one. */
    forcedTools?: boolean;
    transparency?: boolean;
    referenceImages?: boolean;
    /** Work can wait for the provider's flex tier; its discount is part of the price. */
    deferred?: boolean;
    stream?: boolean;
    /** Reads pictures in messages. */
    vision?: boolean;
    /** `edit`: changes a given picture. `mask`: changes only the masked part. */
    edit?: boolean;
    mask?: boolean;
    /** Accepts LoRA weights of its `families`. */
    adapters?: boolean;
    /** Follows a texture prompt and a texture picture together. */
    textureByBoth?: boolean;
    seed?: boolean;
  };
  /** Settings that a text model accepts; any other is refused before quoting. */
  takes?: TextSetting[];
  /** Request members that customers' text servers receive unchanged (`isNameListed`). */
  members?: string[];
  grades?: TextGrade[];
  /** Families of base models whose LoRA weights fit; for models with `supports.adapters`. */
  families?: FamilyName[];
  /** Maximum LoRA weights per picture; absent means the limit of the API. */
  mostAdapters?: number;
  /** Maximum tokens of one picture in a message; for models with `supports.vision`. */
  imageTokens?: number;
  /**
   * How pixels count, up to `imageTokens`: the picture is cut into squares of `edge` pixels, partial ones included, and
   * a hundred squares are `tokensPerHundred` tokens (absent: 100). `least` is the minimum in tokens, for servers that
   * enlarge small pictures. If the whole field is absent, every picture counts `imageTokens`.
   */
  imagePatch?: { edge: number; tokensPerHundred?: number; least?: number };
  /** Maximum Unicode characters of one text to read aloud or embed. */
  maxCharacters?: number;
  /**
   * Length of an embedding model's vectors, and the shortest length that can be requested. Without `dimensions` only
   * the server knows the length, and any can be requested; with `dimensions` alone there is one length.
   */
  embedding?: { dimensions?: number; leastDimensions?: number };
  /** Options of this speech, music or sound model. Unlisted voices, settings and formats are refused before quoting. */
  audio?: AudioFacts;
  /** Lengths that a music, sound or video model can make, in milliseconds. */
  duration?: { minMs: number; maxMs: number };
  /** Video: allowed lengths in seconds (absent: any in `duration`) and resolutions. */
  video?: { seconds?: number[]; resolutions: ("720p" | "1080p")[]; maxReferenceImages?: number };
  image?: {
    minEdge: number;
    maxEdge: number;
    multipleOf: number;
    minPixels: number;
    maxPixels: number;
    maxAspectRatio: number;
    /** The complete list of sizes; absent: any size within the bounds. */
    sizes?: { width: number; height: number }[];
  };
  /** The highest content rating of this model; absent means its provider's. */
  maturity?: ContentRating;
  /** Used only if requested by name (preferredModel, providerPin, pin). */
  onlyByName?: boolean;
};

/** Can an embedding model make vectors of this length? Undefined requests the model's own length. */
export function takesDimensions(asked: number | undefined, { embedding }: ModelFacts): boolean {
  const { dimensions: own, leastDimensions: least } = embedding ?? {};
  if (asked === undefined || asked === own) return true;
  return own === undefined || (least !== undefined && asked >= least && asked <= own);
}

/** Ratings of mature content, as for films, in ascending order. */
export const RATINGS = ["G", "PG", "PG13", "R", "NC17"] as const;
export type ContentRating = (typeof RATINGS)[number];
