"use client";
import { useId } from "react";
import type { ProjectChoice } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import Link from "@/components/ui/link";
import type { OnboardingSession as Session } from "@/server/contract/connections";
import { PlannedAccounts } from "./planned-accounts";

/** The accounts that someone, often an agent, asked the reader to connect, and the next step. */
export function OnboardingSession({
  session: { plan },
  project,
  canChange,
  onConnect,
}: {
  session: Session;
  project: ProjectChoice;
  canChange: boolean;
  onConnect: (provider: string) => void;
}) {
  const titleId = useId();
  return (
    <Card aria-labelledby={titleId}>
      <CardHeader
        id={titleId}
        title="Requested connections"
        hint={`For ${plan.environment} in ${project.displayName}`}
      />
      <CardBody className="space-y-4">
        <ul aria-label="Requested capabilities" className="flex flex-wrap gap-1.5">
          {plan.capabilities.map(({ key, title, ready }) => (
            <li key={key} className="max-w-full">
              <Badge title={key} tone={ready ? "good" : "neutral"}>
                <span className="truncate">{title}</span>
                {ready && <span className="sr-only">, ready</span>}
              </Badge>
            </li>
          ))}
        </ul>
        <PlannedAccounts plan={plan} canChange={canChange} onConnect={onConnect} />
        <p className="text-sm text-muted">
          {plan.status === "ready" && "You're done here. The agent or person who sent you can continue. "}
          <Link
            href={`/projects/${project.projectId}/connections`}
            className="text-link underline underline-offset-2"
          >
            Choose capabilities
          </Link>
        </p>
      </CardBody>
    </Card>
  );
}
