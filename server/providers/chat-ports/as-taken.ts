import { ProviderFault, type ProviderIo } from "../define";
import type { Explain } from "../faults";
import { LIMIT_MEMBERS, type RequestRules } from "../request-rules";
import { type RefusableMember, refusedMembers } from "./refused-members";

/* Servers accept different members of the same interface, and reveal which only by refusing the others. */

type Body = Record<string, unknown>;
export type TakenRequest = { body: Body; explain: Explain };

/**
 * Sends a request with the members that its server accepts. A refusal that names one of the members below happens
 * before any work, so the request is sent again with the other member or without it, once for each. The learned rules
 * are stored for later calls.
 */
export async function asTaken<R>(
  io: Pick<ProviderIo, "rules" | "learn">,
  { request, explain }: { request: Body; explain: Explain },
  send: (sent: TakenRequest) => Promise<R>,
): Promise<R> {
  let learned: RequestRules = {};
  for (;;) {
    const body = inRules(request, { ...io.rules, ...learned });
    const refused = new Set<RefusableMember>();
    const hear: Explain = (answer) => {
      for (const member of refusedMembers(answer)) refused.add(member);
      return explain(answer);
    };
    try {
      const answered = await send({ body, explain: hear });
      if (Object.keys(learned).length > 0) await io.learn?.(learned);
      return answered;
    } catch (cause) {
      const other = isRefusal(cause) ? rulesAfter(refused, body) : {};
      const names = Object.keys(other);
      if (names.length === 0 || names.some((name) => name in learned)) throw cause;
      learned = { ...learned, ...other };
    }
  }
}

/** A refusal without output, so nothing ran. */
const isRefusal = (cause: unknown) =>
  cause instanceof ProviderFault && cause.kind === "refused" && cause.submission === "attempted";

function inRules(request: Body, { outputLimit = "max_tokens", streamOptions }: RequestRules): Body {
  const { max_tokens: limit, stream_options: options, ...rest } = request;
  return {
    ...rest,
    ...(limit === undefined ? {} : { [outputLimit]: limit }),
    ...(options === undefined || streamOptions === false ? {} : { stream_options: options }),
  };
}

/**
 * Rules for the next request: a refused output limit is sent under the other name, and refused `stream_options` are
 * left out.
 */
function rulesAfter(refused: ReadonlySet<RefusableMember>, body: Body): RequestRules {
  const limit = LIMIT_MEMBERS.find((member) => member in body && refused.has(member));
  const outputLimit = limit && LIMIT_MEMBERS.find((member) => member !== limit);
  const isWithout = "stream_options" in body && refused.has("stream_options");
  return { ...(outputLimit ? { outputLimit } : {}), ...(isWithout ? { streamOptions: false } : {}) };
}
