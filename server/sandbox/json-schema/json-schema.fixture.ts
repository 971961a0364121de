import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import type { Json } from "@/server/platform/durable/step";
import { randomFrom } from "../random";
import { fromSchema } from "./json-schema";

const ajv = new Ajv2020({ strict: false, validateFormats: true, logger: false });
export const FORMATS: Record<string, z.ZodType> = {
  "date-time": z.iso.datetime(),
  date: z.iso.date(),
  time: z.string().regex(/^\d\d:\d\d:\d\dZ$/),
  duration: z.iso.duration(),
  email: z.email(),
  hostname: z.hostname(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  uri: z.url(),
  uuid: z.uuid(),
  "json-pointer": z.string().startsWith("/"),
};
for (const [name, format] of Object.entries(FORMATS)) {
  ajv.addFormat(name, (text: string) => format.safeParse(text).success);
}

export const make = (schema: Json, seed = "seed") =>
  fromSchema(schema, { random: randomFrom(seed), words: ["bakery", "sea"] });
export const isValid = (schema: Json, value: Json) =>
  ajv.validate(typeof schema === "boolean" ? schema : Object(schema), value);
