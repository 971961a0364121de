import type { ProviderDiagnostics } from "@/server/contract/diagnostics";
import { access } from "@/server/domain/access";
import { type Funds, isFunded, recentFunds } from "@/server/domain/billing";
import {
  accessDecisionFor,
  allCapabilities,
  getCapability,
  offersOf,
  refusalOf,
  SANDBOX,
  type TargetOffer,
  targetsOfPort,
  type Viewer,
  viewerOf,
} from "@/server/domain/catalog";
import { baseName, baseUrlOf, isConnectable, operatorCredentials } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { type Micros, microsToUsd } from "@/server/platform/money";
import { isSandboxOn } from "@/server/platform/settings/env";
import type { Provider } from "@/server/providers/provider";
import { providers } from "@/server/providers/registry.gen";

const IMAGES = "image.generate.v1";
const NO_FUNDS: Funds = { allowanceMicros: 0, walletMicros: 0 };

/**
 * All providers, whether the caller's project can reach each, and the funds that would pay. Distinguishes
 * topology (an account exists) from runnability (the caller could run now). Reading uses up no allowance.
 */
export async function providerDiagnostics(
  ctx: Ctx,
  place: { projectId?: string | undefined; environment?: string | undefined },
): Promise<ProviderDiagnostics> {
  access.authorize(ctx, "diagnostics:read");
  const viewer = await viewerOf(ctx, place);
  const decision = await accessDecisionFor(ctx, getCapability(IMAGES), viewer);
  const { organizationId } = viewer;
  const [live, test] =
    organizationId === null
      ? [NO_FUNDS, NO_FUNDS]
      : await Promise.all([recentFunds(organizationId, false), recentFunds(organizationId, true)]);
  const covered = coverage();
  const spendable = left(live.allowanceMicros) + left(live.walletMicros);
  const sources = [
    ...(live.allowanceMicros > 0 ? ["managed_trial"] : []),
    ...(live.walletMicros > 0 ? ["managed_wallet"] : []),
  ];
  return {
    projectId: viewer.project?.id ?? null,
    environment: viewer.environment,
    generationProviders: providers.map((provider) => toGenerationProvider(provider, viewer)),
    byokBound: (viewer.connections ?? []).length > 0,
    imageProviderReady: offersFor(IMAGES, viewer).length > 0,
    imageGenerationReady: decision?.runnable ?? false,
    imageGenerationAccess: {
      reason: decision?.reason ?? null,
      requiredAction: decision?.requiredAction ?? null,
    },
    managedTrialRemaining: microsToUsd(left(live.allowanceMicros)),
    managedCreditRemaining: microsToUsd(left(live.walletMicros)),
    managedCreditSemantics: "customer_visible_available_credit",
    managedExecutionFundingRemaining: microsToUsd(spendable),
    managedExecutionFundingAvailable: sources.length > 0,
    managedExecutionFundingSource: sources[0] ?? null,
    managedExecutionFundingSources: sources,
    managedOperatorFundingPresent: providers.some(isOperators),
    managedSmokeAvailable: refusalOf(viewer) === null && isFunded(live) && covered.covered.length > 0,
    managedExecutionCoverage: `${covered.covered.length}/${allCapabilities.length}`,
    managedExecutionCoverageDetail: covered,
    sandbox: {
      available: isSandboxOn,
      remaining: microsToUsd(left(test.allowanceMicros) + left(test.walletMicros)),
    },
  };
}

const left = (micros: Micros) => Math.max(0, micros);
/** True if the operator of this deployment has an account at this provider. */
const isOperators = (provider: Provider) =>
  provider.name !== SANDBOX && baseUrlOf(provider) !== null && operatorCredentials(provider) !== null;

function offersFor(key: string, { connections }: Viewer): TargetOffer[] {
  const own = connections ?? [];
  return targetsOfPort(getCapability(key), own).flatMap((target) => offersOf(target, own));
}

/**
 * The capabilities that an account of the operator serves, and the others. A capability that runs here needs
 * no account.
 */
function coverage(): ProviderDiagnostics["managedExecutionCoverageDetail"] {
  const covered: string[] = [];
  const uncovered: string[] = [];
  for (const capability of allCapabilities) {
    const isCovered =
      "local" in capability.execute ||
      targetsOfPort(capability).some((target) =>
        offersOf(target).some(({ account }) => account === "operator"),
      );
    (isCovered ? covered : uncovered).push(capability.key);
  }
  return { covered, uncovered };
}

function toGenerationProvider(
  provider: Provider,
  { connections }: Viewer,
): ProviderDiagnostics["generationProviders"][number] {
  const own = (connections ?? []).filter((connection) => baseName(connection.provider) === provider.name);
  const theirs = own.flatMap(({ models }) => (models === null ? [] : (provider.modelsFrom?.(models) ?? [])));
  const models = [...provider.models, ...theirs];
  const isSandbox = provider.name === SANDBOX;
  const accounts = [
    ...(own.length > 0 ? (["customer"] as const) : []),
    ...(isOperators(provider) ? (["operator"] as const) : []),
    ...(isSandbox && isSandboxOn && baseUrlOf(provider) ? (["sandbox"] as const) : []),
  ];
  return {
    provider: provider.name,
    title: provider.title,
    modalities: [...new Set(models.map(({ port }) => port))],
    models: models.length,
    available: accounts.length > 0,
    accounts,
    reason: accounts.length > 0 ? null : whyNot(provider, isSandbox),
  };
}

function whyNot(provider: Provider, isSandbox: boolean): string {
  if (isSandbox) return "sandbox_off";
  return isConnectable(provider) ? "connection_required" : "base_url_missing";
}
