import { inspect } from "node:util";

const HIDDEN = "[redacted]";

/**
 * A value that must not be printed: text, JSON, logs and inspection show `[redacted]`. Only `reveal` returns it, for the request
 * that needs it.
 */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return HIDDEN;
  }
  toJSON(): string {
    return HIDDEN;
  }
  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** Wraps each value of a record as a secret. */
export const toSecrets = (values: Record<string, string>): Record<string, Secret> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]));
