"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { AdapterUse, ModelAdapter } from "@/server/contract/adapters";

const MOST_MODELS = 6;

/** The input of a request that uses the adapter, and the models that support it. */
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
      <CardHeader title="Use in a request" id="use-title" />
      <CardBody className="space-y-3 text-sm">
        {uses.map((use) =>
          use.problem === null ? (
            <p key={use.capabilityKey}>
              Input for{" "}
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
                ? "Create an alias to switch to better weights later without changing requests. "
                : `“${alias}” uses the latest promoted version, currently this adapter. `}
              A request can use up to four adapters.
            </p>
          </>
        )}
      </CardBody>
    </Card>
  );
}

/** The sandbox simulates every model, so it is mentioned only when no other model supports the adapter. */
function modelsWords({ models }: AdapterUse): string {
  const real = models.filter((model) => !model.startsWith("sandbox/"));
  if (real.length === 0) return "No provider here supports it yet; the sandbox simulates one.";
  const shown = real.slice(0, MOST_MODELS).join(", ");
  const others = real.length - MOST_MODELS;
  return others > 0 ? `Works with ${shown} and ${others} more.` : `Works with ${shown}.`;
}
