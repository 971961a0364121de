import { inspect } from "node:util";

const HIDDEN = "[redacted]";

/**
 * A value that must not be printed: text, JSON, logs and inspection show `[redacted]`. Only `reveal` gives it out, at the
 * door of whom it is for.
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

/** Each value of a record as a secret. */
export const toSecrets = (values: Record<string, string>): Record<string, Secret> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]));
