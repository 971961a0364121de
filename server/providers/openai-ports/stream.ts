import { z } from "zod";
import type { Delivered } from "../define";
import { deliveredOf, errorIn, ReportedError } from "../ends";
import { type EventWish, jsonIn, type ServerEvent } from "../server-events";

/* The Responses API as a stream. */

const Words = z.string().nullish().catch(null);

/** Fields of the vendor's events that describe the text or the end; all others are ignored. */
const ResponsesEvent = z.object({
  type: Words,
  delta: Words,
  item: z.record(z.string(), z.unknown()).nullish().catch(null),
  response: z.record(z.string(), z.unknown()).nullish().catch(null),
});

const ENDS = /^response\.(completed|incomplete|done)$/;
const FAILURES = /^response\.(failed|error|cancell?ed)$/;

/** Gathers a response from its events, in the form that it has without a stream. */
export function gatherResponse(onText: (text: string) => void = () => {}) {
  let last: Record<string, unknown> | null = null;
  const items: object[] = [];
  const delivered: Delivered = { text: "", reasoning: "", calls: "" };

  return {
    take(each: ServerEvent): EventWish {
      const body = jsonIn(each);
      if (body === undefined) return "more";
      const event = ResponsesEvent.safeParse(body).data;
      const type = event?.type ?? each.event;
      const delta = event?.delta ?? "";
      if (type === "response.output_text.delta" && delta !== "") {
        delivered.text += delta;
        onText(delta);
      } else if (/reasoning.*delta$/.test(type)) delivered.reasoning += delta;
      else if (/arguments\.delta$/.test(type)) delivered.calls += delta;
      if (type === "response.output_item.done" && event?.item) items.push(event.item);
      const hasFailed = FAILURES.test(type);
      if (event?.response && (hasFailed || ENDS.test(type))) {
        last = hasFailed ? { ...event.response, status: "failed" } : event.response;
        return "enough";
      }
      const said = errorIn(body, hasFailed ? "error" : each.event);
      if (said) throw new ReportedError(said, { usage: null, delivered: deliveredOf(delivered) });
      return "more";
    },
    /** The streamed output; null if there was none. */
    delivered: () => deliveredOf(delivered),
    /** The response of the last event, completed with output from earlier events. Null if the stream broke off. */
    whole(): Record<string, unknown> | null {
      if (!last) return null;
      const said = last.output;
      const output: unknown[] = Array.isArray(said) && said.length > 0 ? said : items;
      const isWritten = output.some((item) => (item as { type?: unknown } | null)?.type === "message"); // an item is parsed JSON
      if (isWritten || delivered.text === "") return { ...last, output };
      const content = [{ type: "output_text", text: delivered.text }];
      return { ...last, output: [{ type: "message", content }, ...output] };
    },
  };
}
