import type { z } from "zod";

export type Tier = "standard" | "flex";

/** One port as the sandbox serves it. */
export type PortServer = {
  name: string;
  /** Takes the work at once and is asked for it by `GET /v1/work/{id}`. */
  answersLater: boolean;
  /** The request in a body; null: it does not fit the port. */
  read(body: string): PortRequest | null;
};
export type PortRequest = {
  model: string;
  tier: Tier;
  isStream: boolean;
  /** How `sandbox-mixed` is to behave, by the request's own words; null: it answers. */
  script: Script | null;
  /** The same request gives the same answer. May throw RequestRefused, unless the port answers later. */
  answer(): Promise<object>;
  /** What a model answers that answers nothing. */
  empty(): object;
};

/** `[slow 300]`: a behaviour and its figure, milliseconds or how often. */
export type Script = {
  behaviour: "slow" | "refuse" | "busy" | "lost" | "empty" | "fail";
  figure: number | null;
};

/** A request the sandbox understands and does not take on. */
export class RequestRefused extends Error {
  override readonly name: string = "RequestRefused";
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Makes a port of a schema for its requests and what answers them. */
export function definePort<
  T extends { model: string; tier?: Tier | undefined; stream?: boolean | undefined },
>(
  name: string,
  schema: z.ZodType<T>,
  {
    answer,
    empty,
    answersLater = false,
    script = () => null,
  }: {
    answer: (request: T) => Promise<object>;
    empty: (request: T) => object;
    answersLater?: boolean;
    script?: (request: T) => Script | null;
  },
): PortServer {
  return {
    name,
    answersLater,
    read(body) {
      const parsed = schema.safeParse(parseJson(body));
      if (!parsed.success) return null;
      const request = parsed.data;
      return {
        model: request.model,
        tier: request.tier ?? "standard",
        isStream: request.stream ?? false,
        script: script(request),
        answer: () => answer(request),
        empty: () => empty(request),
      };
    },
  };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
