import { Fault, ValidationFault } from "@/server/platform/errors/errors";

/** Maps parts of the envelope to fields of the OpenAI request: `input.texts` comes from `input`. */
export type Fields = Record<string, string>;

/** Runs `work` and reports its validation errors at the fields of the OpenAI request. */
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
      throw new Fault(cause.code, cause.message, details, { headers: cause.headers, cause });
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

/** The envelope's fields that come from `model`, for every request whose errors are renamed here. */
export const MODEL_FIELDS: Fields = {
  execution: "model",
  "execution.executionConstraints.preferredModel": "model",
  "execution.executionConstraints.providerPin": "model",
};
