"use client";
import { CircleCheck } from "lucide-react";
import { ResourceTable } from "@/components/blocks/list/resource-table";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
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
    <Section id="providers" title="Providers" hint="What an account at each of them can run" isFlush>
      <ResourceTable
        label="Providers"
        rows={providers}
        idOf={({ name }) => name}
        marks={({ name }) => ({ "data-provider": name })}
        columns={[
          {
            header: "Provider",
            card: "title",
            className: "font-medium whitespace-nowrap",
            cell: ({ title }) => title,
          },
          {
            header: "Capabilities",
            className: "w-full text-xs text-muted",
            cell: ({ unlocks }) =>
              unlocks.map(({ title }) => title).join(", ") || "No capabilities in this installation yet.",
          },
          {
            header: "Account",
            align: "end",
            card: "status",
            cell: ({ name, title }) => (
              <span className="flex items-center justify-end gap-2">
                {connected.has(name) && (
                  <Badge tone="good">
                    <CircleCheck aria-hidden />
                    Connected
                  </Badge>
                )}
                {onConnect && (
                  <Button size="sm" aria-label={`Connect ${title}`} onClick={() => onConnect(name)}>
                    Connect
                  </Button>
                )}
              </span>
            ),
          },
        ]}
      />
    </Section>
  );
}
