import fc from "fast-check";
import { expect, test } from "vitest";
import { type JobStatus, TERMINAL } from "@/server/contract/jobs";
import { pool } from "@/server/db";
import { LEASE_MS } from "@/server/domain/attempts";
import { type Ctx, SCOPES, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { env } from "@/server/env";
import { Fault } from "@/server/errors";
import { newId } from "@/server/ids";
import { makeProject, rowsOf, startJob, type TestProject } from "@/testing/world";
import type { Ended } from "./ended";
import { toAnswer } from "./ended";
import { attempt } from "./run";
import { setAnswerAside } from "./set-aside";
import { storeAnswer } from "./transitions/answer";
import { beginSubmission, keepHandle } from "./transitions/attempt";
import { MOVES } from "./transitions/moves";
import { readJob } from "./work";

/*
 * Random sequences of steps of workers, clients, operators, the clock and crashes against one job, on the real
 * database and the real sandbox. A small model says what each step does to the status; whatever is done, the record of
 * the job must hold together. A crash is a worker that stops between two of its writes: the steps of a worker are
 * single here, so each sequence that leaves one out is a crash there.
 */

const SECOND_MS = 1_000;
const QUEUE_MS = 7_200 * SECOND_MS;
const APPROVAL_MS = 7 * 86_400 * SECOND_MS;
const EXECUTION_MS = 120 * SECOND_MS;

const MODELS = [
  "sandbox-1",
  "sandbox-refuse",
  "sandbox-busy",
  "sandbox-lost",
  "sandbox-empty",
  "sandbox-fail",
];
const GOOD = ["sandbox-1", "sandbox-busy"];

/** What the model knows of the attempt: how far its rows say it has come. */
type Tried = "none" | "untried" | "begun" | "handle" | "answered" | "aside";

type Model = {
  status: JobStatus;
  tried: Tried;
  /** The claim that holds the job; older ones are workers that lost it. */
  fence: number;
  leaseUntil: number;
  queueUntil: number;
  approvalUntil: number;
  /** From when the execution limit counts, later by waits for people. */
  workedFrom: number;
  pausedAt: number;
  triedSince: number;
  busyAnswers: number;
  lastDecision: "approved" | "rejected" | null;
};

type Real = {
  project: TestProject;
  /** The client, who may approve too. */
  client: Ctx;
  operator: Ctx;
  jobId: string;
  model: string;
  /** Every claim anybody ever had, newest last. */
  claims: { attemptId: string; fence: number }[];
  /** The record as it ended. */
  ended: string | null;
};

const answer: Pick<Ended, "outcome" | "observed"> = {
  outcome: { outcome: "succeeded", code: null, message: null, settlement: "cost", finishReason: "stop" },
  observed: {
    submission: "attempted",
    providerRequestId: "sbx_1",
    providerModel: "sandbox-1",
    httpStatus: 200,
    tier: "standard",
    usage: { inputTokens: 3, outputTokens: 4 },
    costMicros: 7,
  },
};
const content = { typedOutput: { content: "A winch.", role: "assistant" }, files: [] };

const nowOf = (real: Real) => real.project.clock.now().getTime();
const isEnded = (model: Model) => TERMINAL.includes(model.status);

/** A refusal's code; null where there was none. Anything but a refusal is a bug. */
async function codeOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (cause) {
    if (cause instanceof Fault) return cause.code;
    throw cause;
  }
}

type Step = {
  name: string;
  /** Not every worker would do everything at any time; clients, operators and the clock are under no such rule. */
  isThinkable?(model: Model): boolean;
  run(model: Model, real: Real): Promise<void>;
};

/** The claim a worker acts under: the newest, or one that was lost. */
const claimOf = (real: Real, age: number) => real.claims.at(-1 - age);
const holds = (model: Model, claim: { fence: number }) => claim.fence === model.fence;

function queued(model: Model, real: Real) {
  model.status = "queued";
  model.queueUntil = nowOf(real) + QUEUE_MS;
}

const claim: Step = {
  name: "claim",
  async run(model, real) {
    const isFree = model.status === "running" && model.leaseUntil < nowOf(real);
    const canGoOn = isFree && ["handle", "answered", "aside"].includes(model.tried);
    const canStart = model.status === "queued" && model.queueUntil > nowOf(real);
    const claimed = await startJob(real.project.ctx, real.jobId);
    expect(claimed !== null).toBe(canGoOn || canStart);
    if (!claimed) return;
    real.claims.push(claimed);
    model.status = "running";
    model.fence = claimed.fence;
    model.leaseUntil = nowOf(real) + LEASE_MS;
    if (model.tried === "none") {
      model.tried = "untried";
      model.workedFrom = nowOf(real);
      model.triedSince = nowOf(real);
    }
  },
};

const begin = (age: number): Step => ({
  name: `begin submission, worker ${age}`,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const may = holds(model, mine) && model.status === "running" && model.tried === "untried";
    const begun = await beginSubmission({
      tier: "standard",
      jobId: real.jobId,
      ...mine,
      now: real.project.clock.now(),
    });
    expect(begun).toBe(may);
    if (begun) model.tried = "begun";
  },
});

/** Writes of a worker whose request is on its way. */
const mayAnswer = (model: Model) => model.tried === "begun" || model.tried === "handle";
const isWorkedOn = (model: Model) => model.status === "running" || model.status === "canceling";

const keep = (age: number): Step => ({
  name: `keep a handle, worker ${age}`,
  isThinkable: mayAnswer,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const kept = await keepHandle({
      jobId: real.jobId,
      ...mine,
      leaseUntil: new Date(nowOf(real) + LEASE_MS),
      handle: { id: "batch_1" },
      progress: { phase: "provider", step: "working", percent: 50 },
      now: real.project.clock.now(),
    });
    expect(kept).toBe(holds(model, mine) && isWorkedOn(model));
    if (!kept) return;
    model.tried = "handle";
    model.leaseUntil = Math.max(model.leaseUntil, nowOf(real) + LEASE_MS);
  },
});

const store = (age: number): Step => ({
  name: `store the answer, worker ${age}`,
  isThinkable: mayAnswer,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const now = real.project.clock.now();
    const output = {
      id: newId("payload"),
      content: JSON.stringify(content.typedOutput),
      sha256: "0".repeat(64),
      byte_length: 41,
      expires_at: null,
      is_sealed: false,
    };
    const ended = { ...answer, fresh: { output, artifacts: [] } };
    const stored = await storeAnswer({
      jobId: real.jobId,
      fence: mine.fence,
      now,
      ...toAnswer(mine.attemptId, ended as never, now), // an output as every version of it has it
    });
    expect(stored).toBe(holds(model, mine) && isWorkedOn(model));
    if (stored) model.tried = "answered";
  },
});

const putAside = (age: number): Step => ({
  name: `set the answer aside, worker ${age}`,
  isThinkable: mayAnswer,
  async run(model, real) {
    const mine = claimOf(real, age);
    const job = await readJob(real.jobId);
    if (!mine || !job) return;
    const isAside = await setAnswerAside(real.project.ctx, { job, ...mine }, answer, content);
    expect(isAside).toBe(holds(model, mine) && model.status === "running");
    if (!isAside) return;
    model.tried = "aside";
    model.status = "needs_attention";
  },
});

const gate = (age: number): Step => ({
  name: `pause for approval, worker ${age}`,
  isThinkable: (model) => model.tried !== "begun" && model.tried !== "aside",
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const paused = await jobs.pauseForApproval(
      real.project.ctx,
      { jobId: real.jobId, fence: mine.fence },
      { reason: "turnaround_review", step: "views", shown: { artifactIds: [] } },
    );
    expect(paused).toBe(holds(model, mine) && model.status === "running");
    if (!paused) return;
    model.status = "awaiting_approval";
    model.approvalUntil = nowOf(real) + APPROVAL_MS;
    model.pausedAt = nowOf(real);
    model.lastDecision = null;
  },
});

/** What a whole turn of a worker that holds the job may end in. */
function turn(model: Model, real: Real): JobStatus[] {
  if (model.status === "canceling") return ["canceled"];
  switch (model.tried) {
    case "answered":
    case "aside":
      return ["succeeded"];
    case "begun":
    case "handle": // the sandbox keeps no work, so asking for it is a failure
      return ["failed"];
    default: {
      const left = model.workedFrom + EXECUTION_MS - nowOf(real);
      // At the very limit the clock and the provider race; long after it there is nothing to win.
      if (left < 0) return ["failed"];
      if (real.model === "sandbox-busy" && model.busyAnswers < 2) {
        return nowOf(real) - model.triedSince > EXECUTION_MS - 10 * SECOND_MS
          ? ["failed", "running"]
          : ["running"];
      }
      return [GOOD.includes(real.model) ? "succeeded" : "failed"];
    }
  }
}

const work = (age: number): Step => ({
  name: `a whole turn, worker ${age}`,
  async run(model, real) {
    const mine = claimOf(real, age);
    if (!mine) return;
    const wanted = holds(model, mine) && isWorkedOn(model) ? turn(model, real) : [model.status];
    const isFresh = holds(model, mine) && model.status === "running" && model.tried === "untried";
    await attempt(real.project.ctx, real.jobId, mine);
    const { status } = (await readJob(real.jobId))!;
    expect(wanted).toContain(status);
    model.status = status;
    if (isFresh && status === "running") {
      model.busyAnswers++;
      const refused = await pool.query("SELECT lease_until FROM job WHERE id = $1", [real.jobId]);
      model.leaseUntil = refused.rows[0].lease_until.getTime();
    }
  },
});

const cancel: Step = {
  name: "cancel",
  async run(model, real) {
    const code = await codeOf(jobs.cancel(real.client, real.jobId));
    const isTooLate = model.status === "succeeded" || model.status === "failed";
    expect(code).toBe(isTooLate ? "JobNotCancelable" : null);
    if (isEnded(model)) return;
    model.status = isWorkedOn(model) ? "canceling" : "canceled";
  },
};

const DECIDE = { approve: jobs.approve, reject: jobs.reject };
const decide = (decision: "approve" | "reject"): Step => ({
  name: decision,
  async run(model, real) {
    const code = await codeOf(DECIDE[decision](real.client, real.jobId));
    const past = decision === "approve" ? "approved" : "rejected";
    if (model.status === "awaiting_approval") {
      expect(code).toBe(null);
      model.lastDecision = past;
      if (decision === "reject") model.status = "canceled";
      else {
        if (model.workedFrom > 0) model.workedFrom += nowOf(real) - model.pausedAt;
        queued(model, real);
      }
      return;
    }
    const isSaid = model.lastDecision === past && !(past === "approved" && model.status === "canceled");
    expect(code).toBe(isSaid ? null : "JobNotAwaitingApproval");
  },
});

const retry: Step = {
  name: "retry",
  async run(_model, real) {
    const { retry: hint } = await jobs.get(real.client, real.jobId);
    const code = await codeOf(jobs.retry(real.client, real.jobId));
    expect(code).toBe(hint.newKeySafe ? null : "RetryNotSafe");
  },
};

const OPERATE = { retryStep: jobs.retryStep, acceptAsIs: jobs.acceptAsIs, failWaiting: jobs.failWaiting };
const operate = (way: "retryStep" | "acceptAsIs" | "failWaiting", to: JobStatus): Step => ({
  name: way,
  async run(model, real) {
    const code = await codeOf(OPERATE[way](real.operator, real.jobId));
    expect(code).toBe(model.status === "needs_attention" ? null : "JobNotInAttention");
    if (code) return;
    model.status = to;
    model.leaseUntil = 0;
  },
});

const sweep: Step = {
  name: "sweep",
  async run(model, real) {
    await jobs.sweep(real.project.ctx, real.project);
    const now = nowOf(real);
    const isLost = model.leaseUntil < now;
    if (model.status === "queued" && model.queueUntil <= now) model.status = "failed";
    else if (model.status === "awaiting_approval" && model.approvalUntil <= now) model.status = "canceled";
    else if (model.status === "canceling" && (isLost || model.tried === "untried")) model.status = "canceled";
    else if (model.status === "running" && isLost) {
      if (model.tried === "begun") model.status = "failed";
      if (model.tried === "untried") {
        if (now > model.workedFrom + EXECUTION_MS + 300 * SECOND_MS) model.status = "failed";
        else queued(model, real);
      }
    }
  },
};

const pass = (ms: number): Step => ({
  name: `${ms / SECOND_MS} seconds pass`,
  run: async (_model, real) => real.project.clock.advance(ms),
});

/** Two at the same moment: whichever is first, the record holds together; the model then looks how it ended. */
const meet = (one: Step, other: Step): Step => ({
  name: `${one.name} while ${other.name}`,
  async run(model, real) {
    const blind = (step: Step) => unexpecting(step.run({ ...model }, real));
    await Promise.all([blind(one), blind(other)]);
    await look(model, real);
  },
});

/** A race ends as it ends: what the single step expects of itself is not asked, but a bug is a bug. */
async function unexpecting(work: Promise<void>): Promise<void> {
  await work.catch((cause) => {
    if ((cause as Error).name !== "AssertionError") throw cause;
  });
}

async function look(model: Model, real: Real): Promise<void> {
  const { job, attempts } = await rowsOf(real.jobId);
  const [tried] = attempts;
  model.status = job.status;
  model.fence = job.fence;
  model.leaseUntil = job.lease_until?.getTime() ?? 0;
  model.queueUntil = job.queue_deadline_at.getTime();
  model.approvalUntil = job.approval_deadline_at?.getTime() ?? 0;
  model.workedFrom = job.started_at ? job.started_at.getTime() + (job.approval?.pausedMs ?? 0) : 0;
  model.pausedAt = job.approval ? Date.parse(job.approval.requestedAt) : 0;
  model.triedSince = tried?.started_at.getTime() ?? 0;
  model.busyAnswers = tried?.capacity_rejections ?? 0;
  model.lastDecision =
    job.error_code === "ApprovalRejected" ? "rejected" : (job.approval?.decision?.decision ?? null);
  model.tried = !tried
    ? "none"
    : tried.answer
      ? tried.answer.isSetAside
        ? "aside"
        : "answered"
      : tried.handle
        ? "handle"
        : tried.submission === "ambiguous"
          ? "begun"
          : "untried";
}

const STATUS_OF: Record<string, JobStatus> = {
  "job.queued": "queued",
  "job.awaiting_approval": "awaiting_approval",
  "job.started": "running",
  "job.retry_scheduled": "running",
  "job.cancel_requested": "canceling",
  "job.needs_attention": "needs_attention",
  "job.succeeded": "succeeded",
  "job.failed": "failed",
  "job.canceled": "canceled",
};

/** What must hold of a job's record at any moment, whatever was done to it. */
async function checkRecord(model: Model, real: Real): Promise<void> {
  const { job, attempts, hold, events, receipts, ledger } = await rowsOf(real.jobId);
  expect(job.status).toBe(model.status);
  // Events 1..n without gaps, and the row knows how many.
  expect(events.map((event) => event.id)).toEqual(events.map((_, position) => position + 1));
  expect(job.last_event).toBe(events.length);
  // No illegal move; and what the events tell is what the row says.
  const told = events.flatMap(({ type }) => STATUS_OF[type] ?? []);
  for (const [position, status] of told.entries()) {
    const before = told[position - 1];
    if (before) expect(MOVES[before], `${before} to ${status}`).toContain(status);
  }
  expect(told.at(-1)).toBe(job.status);
  // One end, one receipt, and nothing after it.
  const ends = told.filter((status) => TERMINAL.includes(status));
  const isOver = TERMINAL.includes(job.status);
  expect(ends).toHaveLength(isOver ? 1 : 0);
  expect(receipts).toHaveLength(isOver ? 1 : 0);
  expect(events.filter(({ type }) => type === "job.receipt_sealed")).toHaveLength(isOver ? 1 : 0);
  expect(job.completed_at !== null).toBe(isOver);
  if (isOver) {
    expect(events.slice(-2).map(({ type }) => STATUS_OF[type] ?? type)).toEqual([
      job.status,
      "job.receipt_sealed",
    ]);
    expect(JSON.parse(receipts[0].body)).toMatchObject({ status: job.status, holdState: hold.state });
  }
  // The reservation is settled once, and the books balance.
  expect(hold.state === "open").toBe(!isOver);
  expect(ledger.reduce((sum, entry) => sum + entry.amount_micros, 0)).toBe(0);
  const charged = ledger.reduce((sum, entry) => sum + Math.max(0, entry.amount_micros), 0);
  expect(charged).toBe(hold.state === "settled" ? hold.settled_micros : 0);
  expect(attempts.length).toBeLessThanOrEqual(1);
  if (isOver) {
    // What may have run without an answer keeps its reservation; what never left gives it back.
    const submission = attempts[0]?.submission ?? "not_attempted";
    if (submission === "not_attempted") expect(hold.state).toBe("released");
    if (submission === "ambiguous") expect(hold.state).toBe("ambiguous");
    if (submission === "attempted" && model.tried === "handle" && job.status === "canceled")
      expect(hold.state).toBe("ambiguous");
  }
  // What has ended stays as it is.
  const record = JSON.stringify({ job, hold, receipts, ledger, events });
  if (real.ended !== null) expect(record).toBe(real.ended);
  if (isOver) real.ended = record;
}

/** However the sequence left the job, it can be brought to an end, and its request left at most once. */
async function bringToEnd(model: Model, real: Real): Promise<void> {
  for (let rounds = 0; !isEnded(model); rounds++) {
    expect(rounds).toBeLessThan(12);
    const next: Step[] =
      model.status === "awaiting_approval"
        ? [pass(APPROVAL_MS + SECOND_MS), sweep]
        : model.status === "needs_attention"
          ? [operate("failWaiting", "failed")]
          : [pass(60 * SECOND_MS), sweep, claim, work(0)];
    for (const step of next) {
      await step.run(model, real);
      await checkRecord(model, real);
    }
  }
  for (const { attemptId } of real.claims) {
    const answer = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${attemptId}`);
    expect(((await answer.json()) as { count: number }).count).toBeLessThanOrEqual(1);
  }
}

async function makeWorld(model: string, isWaiting: boolean): Promise<{ model: Model; real: Real }> {
  const project = await makeProject();
  const principal = project.ctx.principal as Extract<Ctx["principal"], { kind: "service_principal" }>; // as made
  const client: Ctx = { ...project.ctx, principal: { ...principal, scopes: new Set(SCOPES) } };
  if (isWaiting)
    await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [project.projectId]);
  const { jobId, status } = await jobs.submit(client, "text.general.fast.v1", {
    input: { messages: [{ role: "user", content: "What is a capstan?" }] },
    preferredModel: model,
  });
  const now = project.clock.now().getTime();
  return {
    real: {
      project,
      client,
      operator: systemCtx("operator", project.clock.now),
      jobId,
      model,
      claims: [],
      ended: null,
    },
    model: {
      status,
      tried: "none",
      fence: 0,
      leaseUntil: 0,
      queueUntil: now + QUEUE_MS,
      approvalUntil: now + APPROVAL_MS,
      workedFrom: 0,
      pausedAt: 0,
      triedSince: 0,
      busyAnswers: 0,
      lastDecision: null,
    },
  };
}

class Command implements fc.AsyncCommand<Model, Real> {
  constructor(readonly step: Step) {}
  check = (model: Readonly<Model>) => this.step.isThinkable?.(model) ?? true;
  async run(model: Model, real: Real) {
    await this.step.run(model, real);
    await checkRecord(model, real);
  }
  toString = () => this.step.name;
}

const worker = [begin(0), keep(0), store(0), putAside(0), gate(0), work(0)];
/** Of workers that lost the job and do not know it. */
const stale = [begin(1), keep(1), store(1), putAside(1), gate(1), work(1)];
const others = [
  cancel,
  decide("approve"),
  decide("reject"),
  retry,
  operate("retryStep", "running"),
  operate("acceptAsIs", "succeeded"),
  operate("failWaiting", "failed"),
  sweep,
];
const clock = [
  pass(SECOND_MS),
  pass(60 * SECOND_MS),
  pass(QUEUE_MS + SECOND_MS),
  pass(APPROVAL_MS + SECOND_MS),
];
const racers = [
  claim,
  work(0),
  cancel,
  decide("approve"),
  decide("reject"),
  sweep,
  operate("acceptAsIs", "succeeded"),
];

const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant(claim) },
  { weight: 4, arbitrary: fc.constantFrom(...worker) },
  { weight: 3, arbitrary: fc.constantFrom(...stale) },
  { weight: 3, arbitrary: fc.constantFrom(...others) },
  { weight: 2, arbitrary: fc.constantFrom(...clock) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...racers), fc.constantFrom(...racers)).map(([a, b]) => meet(a, b)),
  },
);

/** How far a job has come before chance takes over; chance alone seldom gets so deep. */
const BEGINNINGS: Record<string, Step[]> = {
  "just submitted": [],
  "submission begun": [claim, begin(0)],
  "handle kept": [claim, begin(0), keep(0)],
  "handle kept and taken over": [claim, begin(0), keep(0), pass(60 * SECOND_MS), claim],
  "requeued and taken over": [claim, pass(60 * SECOND_MS), sweep, claim],
  "paused with a handle": [claim, begin(0), keep(0), gate(0)],
  "before an operator": [claim, begin(0), putAside(0)],
};

test("whatever workers, clients, operators, the clock and crashes do, no move is illegal, a job ends once, and its money with it", async () => {
  const runs = Number(process.env.STATE_MACHINE_RUNS ?? 80);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...MODELS),
      fc.boolean(),
      fc.constantFrom(...Object.keys(BEGINNINGS)),
      fc.commands([step.map((each) => new Command(each))], { maxCommands: 24, size: "max" }),
      async (model, isWaiting, beginning, commands) => {
        const world = await makeWorld(model, isWaiting);
        for (const each of BEGINNINGS[beginning] ?? []) {
          if (each.isThinkable && !each.isThinkable(world.model)) continue;
          await each.run(world.model, world.real);
          await checkRecord(world.model, world.real);
        }
        await fc.asyncModelRun(() => world, commands);
        await bringToEnd(world.model, world.real);
      },
    ),
    { numRuns: runs, endOnFailure: false, interruptAfterTimeLimit: 240_000, markInterruptAsFailure: false },
  );
}, 300_000);
