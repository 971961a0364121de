import { type Capability, CapabilityFault, type Outcome, UnfitAnswer } from "@/server/capabilities/define";
import { outputOf } from "@/server/capabilities/text/output";
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
import { type Call, chargedAsDelivered } from "./classify";
import { askedOf } from "./estimated-usage";
import { withOwnIds } from "./own-ids";
import { failedAs, joined, repairOf, settled, type Unfit } from "./repair";

/** One call of a capability's port, and what it is made for. */
export type Work = Omit<Call, "account" | "open" | "bounds" | "asked"> & {
  /** Where it runs: an account of its own must be connected to it. */
  project: { id: string; environment: string };
  capability: Capability;
  input: unknown;
  route: Pick<Route, "provider" | "model">;
  call: AnyCall;
  /** What the capability made ready before its call. */
  material: unknown;
  estimate: Pick<Estimate, "bounds" | "account" | "adapters">;
  /** Named by the ids in the answer. */
  executionId: string;
  /** How long it may take altogether: what a vendor is to fetch can be fetched for as long. */
  executionSeconds: number;
  /** The caller takes an answer as it was said: cut off at its limit, or with calls of tools where an object was promised. */
  takesAsSaid?: boolean;
};

/** Whose account a call runs on. */
export const accountOf = ({ account }: Pick<Estimate, "account">) => account ?? ("operator" as const);

const callOf = (work: Work): Call => ({
  ...work,
  account: accountOf(work.estimate),
  bounds: work.estimate.bounds,
  asked: askedOf(work.call),
  open: () => openAccountOf(work),
});

async function openAccountOf({ project, route, estimate }: Work): Promise<OpenAccount | null> {
  const { provider } = route;
  if (estimate.account) return openAccount(estimate.account.credentialId, provider.name, project);
  const credentials = provider.name === SANDBOX ? {} : operatorCredentials(provider);
  const baseUrl = baseUrlOf(provider);
  return credentials && baseUrl ? { baseUrl, credentials: toSecrets(credentials) } : null;
}

/**
 * Sends one call to its provider and answers its outcome; the caller has already stored that it may leave. An
 * unfit answer is given back once where the estimate covers that. Until the second answer is there nothing of the first is
 * kept: a worker that finds this attempt without an end knows that it was sent, and sends nothing.
 */
export async function submitCall(work: Work): Promise<CallOutcome> {
  const submit = async (one: Work) => {
    const call = await withAdapters(one);
    if ("state" in call) return call;
    return observe(one, (adapter, io) => adapter.submit(call as never, io)); // the port decides which call it is
  };
  const first = await submit(work);
  if (first.state !== "unfit") return first;
  const repair = repairOf(work, first);
  if (!repair) return failedAs(first.fault, first.observed);
  failpoint("before-repair");
  // Of another id, so that no vendor takes it for the same request sent again.
  return joined(first, await submit({ ...ungated(work), call: repair, attemptId: `${work.attemptId}-2` }));
}

/** Of a call something has left already: what follows is finished whoever has its execution now. */
const ungated = ({ gate: _, ...work }: Work): Work => work;

const FETCH_GRACE_SECONDS = 60;

/**
 * The call with the adapters it was admitted with. Addresses into our own store are made here, at the last moment, and go to
 * the vendor alone.
 */
async function withAdapters(work: Work): Promise<AnyCall | CallOutcome> {
  const { call, route, estimate, executionSeconds } = work;
  if (!estimate.adapters) return call;
  const until = new Date(work.now().getTime() + (executionSeconds + FETCH_GRACE_SECONDS) * 1000);
  try {
    const adapters = await toCall(estimate.adapters.used, route.provider, until);
    if (adapters) return { ...call, adapters }; // of the image port: no other capability takes adapters
  } catch (cause) {
    return refuseInternally(work, cause, "The weights of an adapter could not be looked up.");
  }
  const gone = "The weights of an adapter that this execution uses were removed.";
  return failed("content_gone", gone, nothingSent);
}

/**
 * The same, with the text passed on as it comes. The pieces together are the answer's text, or the call has failed;
 * and once a piece was passed on, the provider has worked: nothing after that is a refusal that may be sent again.
 */
export async function streamCall(work: Work, onText: OnText): Promise<CallOutcome> {
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
      }); // the port decides which call it is
      if (progress.state !== "done") return progress;
      passing.end();
      const result = progress.result as { text?: string }; // of the text port; no other streams
      isAsSaid = result.text === said;
      return { ...progress, result: { ...redactValue(result, io.credentials), text: passed } };
    },
    () => isAsSaid,
  );
  const ended = settled(observed);
  // Also what is held back here was delivered.
  const outcome = said !== "" && ended.state === "failed" ? chargedAsDelivered(ended) : ended;
  if (said === "" || outcome.state === "succeeded" || outcome.state === "aborted") return outcome;
  // A complete answer and a definite error have their own end; an answer that broke off may be charged.
  if (outcome.state === "failed" && /^(unusable|error_with_usage|error_after_output)/.test(outcome.kind))
    return outcome;
  const words = outcome.state === "pending" ? undefined : outcome.said;
  return failed("lost", LOST, lostAfter(nothingSent), words ? { said: words } : {});
}

/** The text of a stream as its caller receives it: whole characters, of an answer in JSON that alone, and no credentials. */
function textOf(work: Work, { credentials }: ProviderIo, tell: (text: string) => void) {
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

function answersJson({ capability: { execute }, material }: Work): boolean {
  return "port" in execute && execute.port === "text" && execute.isJson?.(material as never) === true; // its own material
}

/** Between two polls; a provider that asks for longer is asked again after an hour, which costs nothing. */
const ASK_AGAIN_MS = 5_000;

/**
 * Asks again for work a provider took earlier. A fault of the request says nothing about the work, which may still run: it is
 * asked again later. A fault of the work is its end. A refused poll leaves the work's end unknown.
 */
export async function pollCall(work: Work, handle: Json): Promise<CallOutcome> {
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

/** A redirect of a poll says as little as a server that fails. */
const concernsRequest = ({ kind, details: { concerns, status = 0 } }: ProviderFault) =>
  kind === "lost" || (concerns === "request" && (kind === "failed" || (status >= 300 && status < 400)));

/** Of an answer whose text is not what was streamed. */
export const DIFFERS = "The provider's final answer differs from the text it streamed.";

type AnyAdapter = { [P in PortName]: PortAdapter<P> }[PortName];

async function observe(
  work: Work,
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
  const answer = execution.port === "text" ? toAnswer(work, result as TextResult) : result; // by the port
  const said = execution.port === "text" ? outputOf(answer as TextResult) : null; // likewise
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
    const { unknownFinish } = answer as { unknownFinish?: string }; // of text alone
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

/** The typed output of text: as the capability reads it, or as it was said; of several answers, all of them. */
async function readText(
  { capability, takesAsSaid }: Work,
  answer: TextResult,
  said: TextOutput,
  read: (one: TextChoice) => Outcome<unknown> | Promise<Outcome<unknown>>,
): Promise<Outcome<unknown>> {
  const isTaken = (one: TextChoice) => takesAsSaid === true && isAsSaid(one);
  const { others = [], ...first } = answer;
  if (others.length === 0) return isTaken(first) ? { typedOutput: said, files: [] } : read(first);
  const choices: (TextOutput & { finishReason: string })[] = [];
  for (const one of [first, ...others]) {
    const { typedOutput } = isTaken(one) ? { typedOutput: null } : await read(one);
    const isObject = typedOutput !== null && capability.outputKind !== "text";
    const content = isObject ? JSON.stringify(typedOutput) : one.text;
    choices.push({ ...outputOf({ ...one, text: content }), finishReason: one.finishReason });
  }
  const { finishReason: _, ...whole } = choices[0]!; // the first was there
  return { typedOutput: { ...whole, choices }, files: [] };
}

/** The answer as its caller may receive and send it back. */
function toAnswer(work: Work, result: TextResult): TextResult {
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

/** The answer, with one call of a tool where only one was requested: not every vendor has a word for that. */
function asAsked({ call }: Work, result: TextResult): TextResult {
  const isOne = (call as TextCall).parallelToolCalls === false; // of the text port
  const first = <T extends TextChoice>(one: T): T => ({ ...one, toolCalls: one.toolCalls.slice(0, 1) });
  return isOne
    ? { ...first(result), ...(result.others ? { others: result.others.map(first) } : {}) }
    : result;
}

/** What its capability may not take, though there is something in it. */
const isAsSaid = ({ finishReason, toolCalls }: TextChoice) =>
  finishReason === "length" || (toolCalls.length > 0 && finishReason !== "content_filter");
