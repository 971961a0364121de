"use client";
import { useQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { dollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";
import type { ConnectionDetail as Detail } from "@/server/contract/connections";
import { SetLimits } from "./guardrails-form";
import { HealthStrip } from "./health-strip";

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
