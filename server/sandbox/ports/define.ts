import type { z } from "zod";

export type SandboxTier = "standard" | "flex";

/** One port of the sandbox. */
export type PortServer = {
  name: string;
  /** True if the port accepts work at once and returns the result later, by `GET /v1/work/{id}`. */
  answersLater: boolean;
  /** Reads the request in a body; null if it does not fit the port. */
  read(body: string): PortRequest | null;
};
export type PortRequest = {
  model: string;
  tier: SandboxTier;
  isStream: boolean;
  /** The behavior of `sandbox-mixed` that the request's own words ask for; null if the model just answers. */
  script: ScriptedBehaviour | null;
  /** The same request gives the same answer. May throw RequestRefused, unless the port answers later. */
  answer(): Promise<object>;
  /** The answer of a model that answers nothing. */
  empty(): object;
};

/** A behavior such as `[slow 300]`, with its figure: milliseconds, or a number of times. */
export type ScriptedBehaviour = {
  behaviour: "slow" | "refuse" | "busy" | "lost" | "empty" | "fail";
  figure: number | null;
};

/** Thrown for a request that the sandbox understands and refuses. */
export class RequestRefused extends Error {
  override readonly name: string = "RequestRefused";
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Builds a port from a schema of its requests and a function that answers them. */
export function definePort<
  T extends { model: string; tier?: SandboxTier | undefined; stream?: boolean | undefined },
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
    script?: (request: T) => ScriptedBehaviour | null;
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
