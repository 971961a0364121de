"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { JsonView } from "@/components/ui/json-view";
import { Notice } from "@/components/ui/notice";
import type { AdapterUse, ModelAdapter } from "@/server/contract/adapters";

const MOST_MODELS = 6;

/** How a request names the adapter, ready to be copied, and which models then draw. */
export function UseInRequest({ projectId, adapter }: { projectId: string; adapter: ModelAdapter }) {
  const trpc = useTRPC();
  const { data: uses } = useSuspenseQuery(trpc.adapters.uses.queryOptions({ adapter_id: adapter.adapterId }));
  const [alias] = adapter.aliases;
  const weight = adapter.recommendedWeight ?? 1;
  const [word] = adapter.triggerWords;
  const choice = alias === undefined ? { adapterId: adapter.adapterId, weight } : { alias };
  const input = {
    prompt: word ? `${word}, a lighthouse at dawn` : "A lighthouse at dawn",
    adapters: [choice],
  };
  const usable = uses.filter(({ problem }) => problem === null);
  return (
    <Card aria-labelledby="use-title">
      <CardHeader title="Use it in a request" id="use-title" />
      <CardBody className="space-y-3 text-sm">
        {uses.map((use) =>
          use.problem === null ? (
            <p key={use.capabilityKey}>
              This is an input of{" "}
              <Link
                href={`/projects/${projectId}/catalog/${use.capabilityKey}`}
                className="text-link underline"
              >
                {use.capabilityKey}
              </Link>
              . {modelsWords(use)}
            </p>
          ) : (
            <Notice key={use.capabilityKey} tone="warn" title={`Not usable with ${use.capabilityKey}`}>
              {use.problem}
            </Notice>
          ),
        )}
        {usable.length > 0 && (
          <>
            <JsonView value={input} what="input with this adapter" />
            <p className="text-xs text-muted">
              {alias === undefined
                ? "Give it an alias, and requests need not change when better weights come. "
                : `“${alias}” means whatever was promoted last under it; at present this adapter. `}
              At most four adapters in one request.
            </p>
          </>
        )}
      </CardBody>
    </Card>
  );
}

/** The sandbox plays every model; it is told of only where nothing else draws. */
function modelsWords({ models }: AdapterUse): string {
  const real = models.filter((model) => !model.startsWith("sandbox/"));
  if (real.length === 0) return "No provider here draws with it yet; the sandbox plays one.";
  const shown = real.slice(0, MOST_MODELS).join(", ");
  const others = real.length - MOST_MODELS;
  return others > 0 ? `${shown} and ${others} more draw with it.` : `Drawn by ${shown}.`;
}
