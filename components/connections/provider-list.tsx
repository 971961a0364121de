"use client";
import { CircleCheck } from "lucide-react";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import type { ConnectableProvider } from "@/server/contract/credentials";

/** The providers that can be connected, with the capabilities each unlocks. */
export function ProviderList({
  providers,
  connected,
  onConnect,
}: {
  providers: ConnectableProvider[];
  connected: ReadonlySet<string>;
  /** Null when the reader may not connect accounts. */
  onConnect: ((provider: string) => void) | null;
}) {
  return (
    <section aria-labelledby="providers">
      <h2 id="providers" className="mb-3 text-lg font-semibold">
        Providers
      </h2>
      <ul className="grid gap-3 sm:grid-cols-2">
        {providers.map(({ name, title, unlocks }) => (
          <li key={name} data-provider={name}>
            <Card className="flex h-full flex-col gap-3 p-4">
              <div className="flex items-start justify-between gap-3">
                <div className="flex min-w-0 flex-wrap items-center gap-2">
                  <h3 className="text-base font-semibold">{title}</h3>
                  {connected.has(name) && (
                    <Badge tone="good">
                      <CircleCheck aria-hidden />
                      Connected
                    </Badge>
                  )}
                </div>
                {onConnect && (
                  <Button size="sm" aria-label={`Connect ${title}`} onClick={() => onConnect(name)}>
                    Connect
                  </Button>
                )}
              </div>
              {unlocks.length === 0 ? (
                <p className="text-sm text-muted">No capabilities in this installation yet.</p>
              ) : (
                <ul aria-label={`Capabilities of ${title}`} className="flex flex-wrap gap-1.5">
                  {unlocks.map((capability) => (
                    <li key={capability.key} className="max-w-full">
                      <Badge title={capability.key}>
                        <span className="truncate">{capability.title}</span>
                      </Badge>
                    </li>
                  ))}
                </ul>
              )}
            </Card>
          </li>
        ))}
      </ul>
    </section>
  );
}
