import { z } from "zod";
import type { Capability } from "@/server/capabilities/define";
import { JsonObject } from "@/server/contract/common";

/** Returns a schema as it is published. Outputs stay open, so that an added field breaks no client. */
export function publish(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (io === "output" && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
    },
  });
  return JsonObject.parse(rest);
}

/** Returns the required fields of the input, as JSON pointers. */
export function requiredInputs({ input }: Pick<Capability, "input">): string[] {
  const { required } = publish(input, "input");
  return Array.isArray(required) ? required.map((field) => `/input/${String(field)}`) : [];
}
