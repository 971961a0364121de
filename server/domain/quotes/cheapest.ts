import { SANDBOX } from "@/server/domain/catalog";
import { Fault } from "@/server/platform/errors/errors";
import { microsToUsd, usdText } from "@/server/platform/money";
import { turn } from "@/server/platform/time/turn";
import type { Estimate } from "./estimate";
import type { RoutingRequest } from "./routing-request";

/** Maximum number of routes priced for one refusal. */
const MOST_ROUTES = 8;

type Planned = { estimate: Estimate };

/**
 * Adds the cheapest fitting route to a refusal by a ceiling, a budget or missing funds:
 * `details.cheapestRoute` has its estimate and a JSON merge patch of the body that selects it. No route is
 * selected here, and test money never replaces real money. If no route fits, a limit of the request itself
 * still names the cheapest one, so the caller can raise the limit; any other refusal is returned unchanged.
 * `plan` prices the request on other routes, and is called at most nine times.
 */
export async function withCheapestRoute(
  refusal: unknown,
  refused: Estimate,
  wanted: RoutingRequest,
  plan: (other: RoutingRequest) => Promise<Planned>,
): Promise<unknown> {
  if (!(refusal instanceof Fault) || wanted.conversation) return refusal;
  const available = availableIn(refusal);
  const isOwnLimit = refusal.code === "BudgetExceeded" && refusal.details.scope === "call";
  if (available <= 0 && !isOwnLimit) return refusal;
  // A route that cannot be planned is no suggestion, whatever the reason.
  const planned = (other: RoutingRequest) => plan(other).catch(() => null);
  const open = await planned(on(wanted, null, null));
  const routes: Estimate[] = [];
  for (const target of open?.estimate.choice?.eligible.slice(0, MOST_ROUTES) ?? []) {
    await turn();
    const found = await planned(on(wanted, ...split(target)));
    if (found) routes.push(found.estimate);
  }
  const [cheapest] = routes
    .filter(({ route }) => isTest(route) === isTest(refused.route))
    .sort((a, b) => a.maximumMicros - b.maximumMicros);
  if (!cheapest?.route) return refusal;
  const cost = microsToUsd(cheapest.maximumMicros);
  const fits = cost <= available;
  if (!fits && !isOwnLimit) return refusal;
  const { provider, model } = cheapest.route;
  const cheapestRoute = {
    model: `${provider}/${model}`,
    fits,
    estimatedCost: cost,
    estimatedCostMicros: cheapest.maximumMicros,
    patch: patchTo(wanted, provider, model),
  };
  const details = { ...refusal.details, cheapestRoute };
  const advice = fits
    ? `${cheapestRoute.model} fits: apply details.cheapestRoute.patch to the body.`
    : `No route fits. The cheapest is ${cheapestRoute.model}, which may cost ${usdText(cost)} USD: details.cheapestRoute.`;
  const message = `${refusal.message} ${advice}`;
  return new Fault(refusal.code, message, details, { headers: refusal.headers, cause: refusal });
}

/** Returns the amount in US dollars that a refusal leaves for one execution; 0 if no price would help. */
function availableIn({ code, details }: Fault): number {
  const isOfMoney = (code === "BudgetExceeded" && !("maxJobs" in details)) || code === "funding_required";
  return isOfMoney ? Number(details.available) : 0;
}

const isTest = (route: Estimate["route"]) => route?.provider === SANDBOX;

const split = (target: string): [provider: string, model: string] => {
  const at = target.indexOf("/");
  return [target.slice(0, at), target.slice(at + 1)];
};

/** Returns the same request on this route, or on any route if none is given. */
function on(
  wanted: RoutingRequest,
  providerPin: string | null,
  preferredModel: string | null,
): RoutingRequest {
  const constraints = wanted.execution.executionConstraints;
  const executionConstraints = { ...constraints, providerPin, preferredModel, autoSelect: false };
  return { ...wanted, pin: null, execution: { ...wanted.execution, executionConstraints } };
}

/**
 * JSON merge patch (RFC 7396) that also removes the names of another route, including those at the root of
 * the body.
 */
function patchTo({ pin, execution }: RoutingRequest, providerPin: string, preferredModel: string) {
  const named = execution.executionConstraints;
  return {
    ...(pin ? { pin: null } : {}),
    ...(named.providerPin ? { providerPin: null } : {}),
    ...(named.preferredModel ? { preferredModel: null } : {}),
    execution: { executionConstraints: { providerPin, preferredModel } },
  };
}
