import type { CapabilityAccessDecision } from "@/server/contract/capabilities";
import type { Readiness } from "@/server/contract/diagnostics";
import { access } from "@/server/domain/access";
import {
  accessDecisionFor,
  allCapabilities,
  getCapability,
  isCapability,
  nearestKeys,
  SHUT,
  type Viewer,
  viewerOf,
} from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";

type Asked = {
  projectId?: string | undefined;
  environment?: string | undefined;
  capabilities: string[];
};

/**
 * Reports whether the caller could work now and what is missing, for its project and for each named
 * capability. For a key that names no project the project check fails; it is not an error.
 */
export async function readiness(ctx: Ctx, { capabilities, ...place }: Asked): Promise<Readiness> {
  access.authorize(ctx, "diagnostics:read");
  const viewer = await viewerOf(ctx, place);
  const asked = await Promise.all(
    [...new Set(capabilities)].map(async (key): Promise<Readiness["capabilities"][number]> => {
      const capabilityKey = key;
      if (!isCapability(key)) {
        const nearestMatches = nearestKeys(key);
        return { capabilityKey, known: false, ready: false, accessDecision: null, nearestMatches };
      }
      const accessDecision = await accessDecisionFor(ctx, getCapability(key), viewer);
      return { capabilityKey, known: true, ready: accessDecision?.runnable ?? false, accessDecision };
    }),
  );
  const whole = await Promise.all(
    allCapabilities
      .filter(({ execute }) => !("local" in execute))
      .map((capability) => accessDecisionFor(ctx, capability, viewer)),
  );
  const checks = checksOf(viewer, whole);
  return {
    projectId: viewer.project?.id ?? null,
    environment: viewer.environment,
    ready: checks.every(({ ok }) => ok) && asked.every(({ ready }) => ready),
    checks,
    capabilities: asked,
  };
}

function checksOf(viewer: Viewer, decisions: (CapabilityAccessDecision | null)[]): Readiness["checks"] {
  const { mayRun, mayLeave } = viewer;
  const isReached = (decision: CapabilityAccessDecision | null) =>
    (decision?.availableCredentialSources.length ?? 0) > 0 && decision?.reason !== SHUT;
  const reached = decisions.filter(isReached);
  const payable = reached.filter((decision) => (decision?.availableFundingSources.length ?? 0) > 0);
  return [
    { name: "project", ...projectCheck(viewer) },
    {
      name: "permission",
      ok: mayRun,
      detail: mayRun ? "Can run capabilities." : "The scope or role to run capabilities is missing.",
    },
    {
      name: "provider",
      ok: reached.length > 0,
      detail: `${reached.length} of the ${decisions.length} capabilities that need a provider have one.${mayLeave ? "" : " The organization has turned off executions that call providers."}`,
    },
    {
      name: "funding",
      ok: payable.length > 0,
      detail:
        payable.length > 0
          ? `${payable.length} of them can be paid for.`
          : "Nothing can pay for executions. Connect a provider account or add funds.",
    },
  ];
}

function projectCheck({ project, environment, archived }: Viewer): { ok: boolean; detail: string } {
  if (!project)
    return { ok: false, detail: "This key is not bound to a project. Send one in context.projectId." };
  const name = project.displayName;
  if (archived === "project")
    return { ok: false, detail: `${name} is archived: it can be read, but nothing runs in it.` };
  if (archived === "environment")
    return {
      ok: false,
      detail: `The environment ${environment} of ${name} is archived: it can be read, but nothing runs in it.`,
    };
  return { ok: true, detail: name };
}
