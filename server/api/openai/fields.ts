import { Fault, ValidationFault } from "@/server/errors";

/** Which field of an OpenAI request became which part of the envelope: `input.texts` was `input`. */
export type Fields = Record<string, string>;

/** Does this work; what it refuses is refused at the field that the request's sender knows. */
export async function inFieldsOf<T>(fields: Fields, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ValidationFault)
      throw new ValidationFault(
        cause.issues.map((issue) => ({ ...issue, loc: respelled(issue.loc, fields) })),
      );
    if (cause instanceof Fault && typeof cause.details.field === "string") {
      const { field } = cause.details;
      const from = field in fields ? field : Object.keys(fields).find((each) => field.startsWith(`${each}[`));
      if (from === undefined) throw cause;
      const details = { ...cause.details, field: `${fields[from]}${field.slice(from.length)}` };
      throw new Fault(cause.code, cause.message, details, cause.headers, { cause });
    }
    throw cause;
  }
}

function respelled(loc: (string | number)[], fields: Fields): (string | number)[] {
  const [where, ...path] = loc;
  if (where !== "body") return loc;
  for (let length = path.length; length > 0; length--) {
    const found = fields[path.slice(0, length).join(".")];
    if (found !== undefined) return [where, found, ...path.slice(length)];
  }
  return loc;
}

/** What every request of these kinds has. */
export const MODEL_FIELDS: Fields = {
  execution: "model",
  "execution.executionConstraints.preferredModel": "model",
  "execution.executionConstraints.providerPin": "model",
};
