import type { Json } from "@/server/platform/durable/step";
import type { HttpOptions } from "../http";
import {
  type Feature,
  placeSampling,
  requireOfModel,
  respellChoice,
  respellTools,
  type SamplingMembers,
} from "../pin-call";
import { type PinApi, type PinCall, toPinAnswer } from "../pins";
import { withoutUndefined } from "../text-call";
import { readChat, readEvidence } from "./reply";

/** The differences between vendors. */
type Dialect = {
  explain: NonNullable<HttpOptions["explain"]>;
  headers: PinApi["headers"];
  /** Role of the instructions. */
  role: "system" | "developer";
  sampling: SamplingMembers;
  /** Members that every request needs. */
  always?: Record<string, Json>;
  /** Features that are unknown for this vendor's models; they are sent as requested. */
  unknown?: Feature[];
};

/** The pin of a vendor with chat completions. */
export const pinChat = ({ explain, headers, role, sampling, always, unknown = [] }: Dialect): PinApi => ({
  path: () => "/chat/completions",
  content: ["model", "messages", "tools", "response_format"],
  canDefer: false,
  headers,
  explain,
  body(call, model) {
    requireOfModel(call, model, unknown);
    const { instructions, input } = call;
    return {
      model: model.id,
      messages: [
        ...(instructions === undefined ? [] : [{ role, content: instructions }]),
        { role: "user", content: input },
      ],
      ...placeSampling(call, sampling),
      ...withoutUndefined({
        response_format: formatOf(call),
        tools: respellTools(call, (tool) => ({ type: "function", function: tool })),
        tool_choice: respellChoice(call, (name) => ({ type: "function", function: { name } })),
      }),
      ...always,
    };
  },
  read: (reply, io) => {
    const { fingerprint, ...tier } = readEvidence(reply, io);
    return toPinAnswer({ ...readChat(reply, io), ...tier }, fingerprint);
  },
});

function formatOf({ responseFormat }: PinCall): Json | undefined {
  if (responseFormat?.type !== "json_schema") return responseFormat;
  const { type, ...schema } = responseFormat;
  return { type, json_schema: withoutUndefined(schema) };
}
