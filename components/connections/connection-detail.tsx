"use client";
import { useQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { dollars } from "@/components/blocks/money/money";
import { LimitFields } from "@/components/budgets/limit-fields";
import { useTRPC } from "@/components/data/trpc";
import { Ago } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import type { ConnectionHealth, ConnectionDetail as Detail } from "@/server/contract/connections";

/** The health and spending limits of one connection. For admins. */
export function ConnectionDetail({ connectionId, name }: { connectionId: string; name: string }) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.connections.detail.queryOptions({ connection_id: connectionId }));
  return (
    <div className="space-y-3">
      {data ? <HealthStrip health={data.health} name={name} /> : <div className="h-11" />}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        {data && <Limits connection={data} name={name} />}
      </div>
    </div>
  );
}

function Limits({ connection, name }: { connection: Detail; name: string }) {
  const { userGuardrails, spend } = connection;
  const { dailyMicros, perExecutionMicros } = userGuardrails;
  const said = [
    ...(dailyMicros === null ? [] : [`${dollars(dailyMicros)} per day`]),
    ...(perExecutionMicros === null ? [] : [`${dollars(perExecutionMicros)} per execution`]),
  ];
  return (
    <>
      <p className="text-xs text-muted">
        {said.length === 0 ? "No limits set." : `Up to ${said.join(", ")}.`}
        {spend && ` ${dollars(spend.availableMicros)} left today.`}
      </p>
      <SetLimits connection={connection} name={name} />
    </>
  );
}

/** Sets the spending limits of one connection, at list price. */
function SetLimits({ connection, name }: { connection: Detail; name: string }) {
  const trpc = useTRPC();
  const save = useAction(trpc.connections.setGuardrails.mutationOptions(), {
    isInPlace: true,
    done: "Limits saved",
    refresh: [trpc.connections.pathKey()],
  });
  return (
    <FormDialog
      title={`Limits for ${name}`}
      description="Spending limits for this account, at list price. Executions above a limit are refused before anything is sent."
      trigger={
        <Button size="sm" variant="ghost" aria-label={`Set limits for ${name}`}>
          Set limits
        </Button>
      }
      action={save}
      send={(sent) =>
        save.mutate({
          connection_id: connection.id,
          dailyMicros: sent.micros("dailyMicros"),
          perExecutionMicros: sent.micros("perExecutionMicros"),
        })
      }
      submit="Save limits"
    >
      <LimitFields limits={connection.userGuardrails} />
      {connection.spend && (
        <p className="text-xs text-muted">
          Today: {dollars(connection.spend.settledMicros)} spent, {dollars(connection.spend.heldMicros)}{" "}
          reserved.
        </p>
      )}
    </FormDialog>
  );
}

const WORDS = {
  ready: { tone: "good", title: "Credentials accepted" },
  refused: { tone: "bad", title: "Credentials refused" },
  unreachable: { tone: "warn", title: "Provider unreachable" },
} as const;

/** Tests a connection with its provider. */
export function useTest() {
  const trpc = useTRPC();
  return useAction(trpc.connections.test.mutationOptions(), { refresh: [trpc.connections.pathKey()] });
}

export function TestResult({ result }: { result: NonNullable<ReturnType<typeof useTest>["data"]> }) {
  const { tone, title } = WORDS[result.outcome];
  return (
    <Notice tone={result.steps.length > 0 && tone === "good" ? "warn" : tone} title={title} role="status">
      {result.message}
      {result.steps.length > 0 && (
        <ol className="mt-1 list-inside list-decimal space-y-1">
          {result.steps.map(({ code, found, todo }) => (
            <li key={code}>{found === result.message ? todo : `${found} ${todo}`}</li>
          ))}
        </ol>
      )}
    </Notice>
  );
}

const HOUR_MS = 3_600_000;
/** A cell is six hours, so that seven days fit a phone. */
const CELL_HOURS = 6;
const CELLS = (7 * 24) / CELL_HOURS;

type Cell = {
  from: number;
  answered: number;
  failed: number;
  /** The number of health checks that were accepted; `refused` counts all others. */
  accepted: number;
  refused: number;
  problem: string | null;
};

/** The executions and checks of a connection over seven days, one cell per six hours, newest on the right. */
function HealthStrip({ health, name }: { health: ConnectionHealth; name: string }) {
  const cells = cellsOf(health, Date.now());
  const answered = cells.reduce((sum, each) => sum + each.answered, 0);
  const failed = cells.reduce((sum, each) => sum + each.failed, 0);
  const [last] = health.checks;
  const problem = health.hours.find((hour) => hour.problem !== null);
  return (
    <div className="space-y-1">
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 text-xs text-muted">
        <span className="font-medium text-text">Last 7 days</span>
        <span>
          {answered} answered, {failed > 0 ? <span className="text-bad">{failed} failed</span> : "0 failed"}
        </span>
        {last && (
          <span>
            {last.outcome === "ready" ? "Accepted" : last.outcome === "refused" ? "Refused" : "Unreachable"}{" "}
            <Ago at={last.at} />
          </span>
        )}
      </p>
      <div
        role="img"
        aria-label={`Last 7 days of ${name}: ${answered} answered, ${failed} failed`}
        className="flex h-6 items-stretch gap-px sm:gap-0.5"
      >
        {cells.map((cell) => (
          <span
            key={cell.from}
            title={titleOf(cell)}
            suppressHydrationWarning
            className={`min-w-0 flex-1 rounded-xs border ${toneOf(cell)}`}
          />
        ))}
      </div>
      <p aria-hidden className="flex justify-between text-2xs text-faint">
        <span>7 days ago</span>
        <span>Now</span>
      </p>
      {problem?.problemAt && (
        <p className="text-xs text-muted [overflow-wrap:anywhere]">
          Last problem <Ago at={problem.problemAt} />: {problem.problem}
        </p>
      )}
    </div>
  );
}

function cellsOf({ hours, checks }: ConnectionHealth, now: number): Cell[] {
  const width = CELL_HOURS * HOUR_MS;
  const end = Math.floor(now / width) * width;
  return Array.from({ length: CELLS }, (_, position) => {
    const from = end - (CELLS - 1 - position) * width;
    const isIn = (at: string) => new Date(at).getTime() >= from && new Date(at).getTime() < from + width;
    const asked = checks.filter(({ at }) => isIn(at));
    const mine = hours.filter(({ hour }) => isIn(hour));
    return {
      from,
      answered: mine.reduce((sum, each) => sum + each.answered, 0),
      failed: mine.reduce((sum, each) => sum + each.failed, 0),
      accepted: asked.filter(({ outcome }) => outcome === "ready").length,
      refused: asked.filter(({ outcome }) => outcome !== "ready").length,
      problem: mine.find((each) => each.problem)?.problem ?? null,
    };
  });
}

function toneOf({ answered, failed, accepted, refused }: Cell): string {
  if (failed > answered || (refused > 0 && answered + accepted === 0)) return "border-bad-line bg-bad";
  if (failed + refused > 0) return "border-warn-line bg-warn";
  return answered + accepted > 0 ? "border-good-line bg-good" : "border-line bg-sunken";
}

function titleOf({ from, answered, failed, accepted, refused, problem }: Cell): string {
  const at = new Date(from).toISOString().slice(0, 16).replace("T", " ");
  const what = answered + failed === 0 ? "no executions" : `${answered} answered, ${failed} failed`;
  const checks = accepted + refused;
  const checked = checks === 0 ? "" : `, ${accepted} of ${checks} checks accepted`;
  return `${at} UTC: ${what}${checked}${problem ? `. ${problem}` : ""}`;
}
