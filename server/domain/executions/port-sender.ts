import { type Capability, CapabilityFault, type RunOutcome, UnfitAnswer } from "@/server/capabilities/define";
import { textOutput } from "@/server/capabilities/text/output";
import type { TextOutput } from "@/server/contract/inputs";
import { toCall } from "@/server/domain/adapters";
import { type Route, SANDBOX } from "@/server/domain/catalog";
import { baseUrlOf, type OpenAccount, openAccount, operatorCredentials } from "@/server/domain/connections";
import type { Estimate } from "@/server/domain/quotes";
import { redactStream, redactValue } from "@/server/platform/crypto/redact-secrets";
import { toSecrets } from "@/server/platform/crypto/secret";
import type { Json } from "@/server/platform/durable/step";
import { isErrorCode } from "@/server/platform/errors/errors";
import { log } from "@/server/platform/log/log";
import { failpoint } from "@/server/platform/settings/failpoint";
import { bareJson, bareJsonOf } from "@/server/platform/text/bare-json";
import { answerFlaw } from "@/server/platform/text/canonical";
import { wholePieces, wholeValue } from "@/server/platform/text/whole-text";
import { HOUR_MS } from "@/server/platform/time/units";
import {
  type AnyCall,
  type OnText,
  type PortAdapter,
  type PortName,
  type Progress,
  ProviderFault,
  type ProviderIo,
  type TextCall,
  type TextChoice,
  type TextResult,
} from "@/server/providers/define";
import { refuseInternally, send } from "./call";
import { type CallOutcome, failed, LOST, lostAfter, nothingSent, unusable } from "./call-outcome";
import { type CallTerms, chargedAsDelivered } from "./classify";
import { requestSizeOf } from "./estimated-usage";
import { withOwnIds } from "./own-ids";
import { failedAs, joined, repairOf, settled, type Unfit } from "./repair";

/** One call of a capability's port, and the execution that it is made for. */
export type PortCall = Omit<CallTerms, "account" | "open" | "bounds" | "asked"> & {
  /** The project and environment of the execution; its own provider account must be connected there. */
  project: { id: string; environment: string };
  capability: Capability;
  input: unknown;
  route: Pick<Route, "provider" | "model">;
  call: AnyCall;
  /** Data that the capability prepared before its call. */
  material: unknown;
  estimate: Pick<Estimate, "bounds" | "account" | "adapters">;
  /** Appears in the ids that the answer gets here. */
  executionId: string;
  /** Time limit of the whole execution; addresses that a vendor is to fetch stay valid for as long. */
  executionSeconds: number;
  /**
   * The caller accepts a raw answer: one cut off at its limit, or one with tool calls in place of a promised
   * object.
   */
  takesAsSaid?: boolean;
};

/** The account that a call runs on. */
export const accountOf = ({ account }: Pick<Estimate, "account">) => account ?? ("operator" as const);

const callOf = (work: PortCall): CallTerms => ({
  ...work,
  account: accountOf(work.estimate),
  bounds: work.estimate.bounds,
  asked: requestSizeOf(work.call),
  open: () => openAccountOf(work),
});

async function openAccountOf({ project, route, estimate }: PortCall): Promise<OpenAccount | null> {
  const { provider } = route;
  if (estimate.account) return openAccount(estimate.account.credentialId, provider.name, project);
  const credentials = provider.name === SANDBOX ? {} : operatorCredentials(provider);
  const baseUrl = baseUrlOf(provider);
  return credentials && baseUrl ? { baseUrl, credentials: toSecrets(credentials) } : null;
}

/**
 * Sends one call to its provider and returns its outcome; the caller has already stored that the call may
 * leave. An unfit answer is sent back once for repair if the estimate covers that. Nothing of the first
 * answer is stored until the second arrives: a worker that finds this attempt without an end knows that it
 * was sent, and sends nothing.
 */
export async function submitCall(work: PortCall): Promise<CallOutcome> {
  const submit = async (one: PortCall) => {
    const call = await withAdapters(one);
    if ("state" in call) return call;
    return observe(one, (adapter, io) => adapter.submit(call as never, io)); // the type follows from the port
  };
  const first = await submit(work);
  if (first.state !== "unfit") return first;
  const repair = repairOf(work, first);
  if (!repair) return failedAs(first.fault, first.observed);
  failpoint("before-repair");
  // A different id keeps vendors from treating the repair as the same request sent again.
  return joined(first, await submit({ ...ungated(work), call: repair, attemptId: `${work.attemptId}-2` }));
}

/**
 * Part of the call has left already, so the rest is finished even if another process now holds the execution.
 */
const ungated = ({ gate: _, ...work }: PortCall): PortCall => work;

const FETCH_GRACE_SECONDS = 60;

/**
 * Adds the adapters that the call was admitted with. Addresses into our own store are made here, at the last
 * moment, and go only to the vendor.
 */
async function withAdapters(work: PortCall): Promise<AnyCall | CallOutcome> {
  const { call, route, estimate, executionSeconds } = work;
  if (!estimate.adapters) return call;
  const until = new Date(work.now().getTime() + (executionSeconds + FETCH_GRACE_SECONDS) * 1000);
  try {
    const adapters = await toCall(estimate.adapters.used, route.provider, until);
    if (adapters) return { ...call, adapters }; // only calls of the image port take adapters
  } catch (cause) {
    return refuseInternally(work, cause, "The weights of an adapter could not be looked up.");
  }
  const gone = "The weights of an adapter that this execution uses were removed.";
  return failed("content_gone", gone, nothingSent);
}

/**
 * Sends one call like `submitCall`, without repair, and passes its text on as it arrives. The pieces together
 * are the answer's text, or the call has failed. Once text has arrived, the provider has worked, so the
 * request is not sent again after any later failure.
 */
export async function streamCall(work: PortCall, onText: OnText): Promise<CallOutcome> {
  let [said, passed] = ["", ""];
  let isAsSaid = true;
  let kind: Parameters<OnText>[1];
  const observed = await observe(
    work,
    async (adapter, io) => {
      if (!adapter.stream)
        throw new ProviderFault(
          "refused",
          "not_attempted",
          `${work.route.provider.title} does not support streaming.`,
        );
      const passing = textOf(work, io, (text) => {
        passed += text;
        onText(text, kind);
      });
      const progress = await adapter.stream(work.call as never, io, (text, itsKind) => {
        kind = itsKind;
        said += text;
        passing.push(text);
      }); // the type follows from the port
      if (progress.state !== "done") return progress;
      passing.end();
      const result = progress.result as { text?: string }; // only the text port streams
      isAsSaid = result.text === said;
      return { ...progress, result: { ...redactValue(result, io.credentials), text: passed } };
    },
    () => isAsSaid,
  );
  const ended = settled(observed);
  // Text that our filters still hold back counts as delivered, because the provider sent it.
  const outcome = said !== "" && ended.state === "failed" ? chargedAsDelivered(ended) : ended;
  if (said === "" || outcome.state === "succeeded" || outcome.state === "aborted") return outcome;
  // A complete answer and a definite error keep their outcome. An answer that broke off may be charged, so it
  // is ambiguous.
  if (outcome.state === "failed" && /^(unusable|error_with_usage|error_after_output)/.test(outcome.kind))
    return outcome;
  const words = outcome.state === "pending" ? undefined : outcome.said;
  return failed("lost", LOST, lostAfter(nothingSent), words ? { said: words } : {});
}

/**
 * Filters streamed text for its caller: whole characters only, only the JSON of a JSON answer, and no
 * credentials.
 */
function textOf(work: PortCall, { credentials }: ProviderIo, tell: (text: string) => void) {
  const clean = redactStream(credentials, tell);
  const bare = answersJson(work) ? bareJson(clean.push) : clean;
  const whole = wholePieces(bare.push);
  return {
    push: whole.push,
    end() {
      whole.end();
      bare.end();
      if (bare !== clean) clean.end();
    },
  };
}

function answersJson({ capability: { execute }, material }: PortCall): boolean {
  return "port" in execute && execute.port === "text" && execute.isJson?.(material as never) === true; // its own material
}

/**
 * Minimum delay after a failed poll. A provider that asks for more than an hour is polled after an hour,
 * because a poll costs nothing.
 */
const ASK_AGAIN_MS = 5_000;

/**
 * Polls for work that a provider accepted earlier. A fault of the poll says nothing about the work, which may
 * still run, so it is polled again later. A fault of the work ends it. A refused poll leaves the work's end
 * unknown.
 */
export async function pollCall(work: PortCall, handle: Json): Promise<CallOutcome> {
  let isOfRequest = false;
  const observed = await observe(ungated(work), async (adapter, io) => {
    if (!adapter.poll)
      throw new ProviderFault("failed", "attempted", `${work.route.provider.title} cannot be polled.`);
    try {
      return await adapter.poll(handle, io);
    } catch (cause) {
      isOfRequest = cause instanceof ProviderFault && concernsRequest(cause);
      throw cause;
    }
  });
  const outcome = settled(observed);
  const again = { state: "pending", handle, pollAfterMs: ASK_AGAIN_MS } as const;
  switch (outcome.state) {
    case "retryable":
      return { ...again, pollAfterMs: Math.max(Math.min(outcome.retryAfterMs ?? 0, HOUR_MS), ASK_AGAIN_MS) };
    case "aborted":
      return { ...outcome, submission: "attempted" };
    case "failed": {
      if (isOfRequest) return again;
      if (outcome.settlement !== "released") return outcome;
      return failed("lost", LOST, lostAfter(outcome.observed));
    }
    default:
      return outcome;
  }
}

/** True if only the poll failed. A redirect says as little about the work as a failing server does. */
const concernsRequest = ({ kind, details: { concerns, status = 0 } }: ProviderFault) =>
  kind === "lost" || (concerns === "request" && (kind === "failed" || (status >= 300 && status < 400)));

/** The failure of an answer whose text differs from the streamed text. */
export const DIFFERS = "The provider's final answer differs from the text it streamed.";

type AnyAdapter = { [P in PortName]: PortAdapter<P> }[PortName];

async function observe(
  work: PortCall,
  ask: (adapter: AnyAdapter, io: ProviderIo) => Promise<Progress<unknown>>,
  isAsStreamed: (result: unknown) => boolean = () => true,
): Promise<CallOutcome | Unfit> {
  const execution = work.capability.execute;
  if ("local" in execution) throw new Error(`${work.capability.key} has no provider`);
  const adapter = work.route.provider[execution.port];
  if (!adapter) return failed("unsendable", "The provider does not serve this capability.", nothingSent);
  const sent = await send(callOf(work), (io) => ask(adapter, io));
  if (sent.state !== "answered") return sent;
  const { observed, result } = sent;
  const { usage } = observed;
  if (!isAsStreamed(result)) return unusable(DIFFERS, observed);
  const answer = execution.port === "text" ? toAnswer(work, result as TextResult) : result; // typed by the port
  const said = execution.port === "text" ? textOutput(answer as TextResult) : null; // typed by the port
  try {
    const finishReason = (answer as { finishReason?: string }).finishReason ?? null;
    const read = (one: unknown) =>
      execution.result(
        one as never, // all of them belong to this port and capability
        work.input,
        { material: work.material, model: work.route.model, usage },
      );
    const outcome = said ? await readText(work, answer as TextResult, said, read) : await read(answer);
    const { files } = outcome;
    const typedOutput = wholeValue(outcome.typedOutput);
    const flaw = answerFlaw(typedOutput);
    if (flaw) return unusable(flaw, observed);
    const { unknownFinish } = answer as { unknownFinish?: string }; // only text answers have it
    const unknown = unknownFinish === undefined ? {} : { unknownFinish };
    return { state: "succeeded", observed, typedOutput, files, finishReason, ...unknown };
  } catch (cause) {
    if (cause instanceof UnfitAnswer) return { state: "unfit", observed, answer, fault: cause };
    if (cause instanceof CapabilityFault && isErrorCode(cause.code)) {
      const outcome = failedAs(cause, observed);
      const isKept = cause.code === "OutputLimitReached" && said && !answerFlaw(said);
      return isKept ? { ...chargedAsDelivered(outcome), partial: said } : outcome;
    }
    log.error({ err: cause, attemptId: work.attemptId }, "the answer of a provider could not be read");
    return unusable("The provider's answer could not be read.", observed);
  }
}

/**
 * The typed output of a text answer: as the capability parses it, or raw if the caller accepts that. Several
 * answers become `choices`.
 */
async function readText(
  { capability, takesAsSaid }: PortCall,
  answer: TextResult,
  said: TextOutput,
  read: (one: TextChoice) => RunOutcome<unknown> | Promise<RunOutcome<unknown>>,
): Promise<RunOutcome<unknown>> {
  const isTaken = (one: TextChoice) => takesAsSaid === true && isAsSaid(one);
  const { others = [], ...first } = answer;
  if (others.length === 0) return isTaken(first) ? { typedOutput: said, files: [] } : read(first);
  const choices: (TextOutput & { finishReason: string })[] = [];
  for (const one of [first, ...others]) {
    const { typedOutput } = isTaken(one) ? { typedOutput: null } : await read(one);
    const isObject = typedOutput !== null && capability.outputKind !== "text";
    const content = isObject ? JSON.stringify(typedOutput) : one.text;
    choices.push({ ...textOutput({ ...one, text: content }), finishReason: one.finishReason });
  }
  const { finishReason: _, ...whole } = choices[0]!; // the loop always adds `first`
  return { typedOutput: { ...whole, choices }, files: [] };
}

/** The answer in the form that its caller receives and may send back. */
function toAnswer(work: PortCall, result: TextResult): TextResult {
  const { others, ...first } = asAsked(work, wholeValue(result));
  const isJson = answersJson(work);
  const maker = {
    credentialId: work.estimate.account?.credentialId,
    provider: work.route.provider.name,
    model: work.route.model.id,
  };
  const read = (one: TextChoice): TextChoice =>
    withOwnIds({ ...one, ...(isJson ? { text: bareJsonOf(one.text) } : {}) }, work.executionId, maker);
  return { ...read(first), ...(others ? { others: others.map(read) } : {}) };
}

/**
 * Keeps only the first tool call if parallel calls were disabled, because not every vendor has an option for
 * that.
 */
function asAsked({ call }: PortCall, result: TextResult): TextResult {
  const isOne = (call as TextCall).parallelToolCalls === false; // called for the text port only
  const first = <T extends TextChoice>(one: T): T => ({ ...one, toolCalls: one.toolCalls.slice(0, 1) });
  return isOne
    ? { ...first(result), ...(result.others ? { others: result.others.map(first) } : {}) }
    : result;
}

/**
 * True for an answer with content that its capability may reject: one cut off at its limit, or one with tool
 * calls.
 */
const isAsSaid = ({ finishReason, toolCalls }: TextChoice) =>
  finishReason === "length" || (toolCalls.length > 0 && finishReason !== "content_filter");
