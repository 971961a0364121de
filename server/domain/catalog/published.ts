import {
  CapabilityBrief,
  CapabilityDescriptor,
  CapabilitySummary,
  ExecutionTargetList,
  type ExecutionTargetNames,
} from "@/server/contract/capabilities";
import { sha256Hex } from "@/server/platform/text/canonical";
import { briefOf } from "./brief";
import { describeCapability, executionTargets, toCapabilityItem, toCapabilitySummary } from "./describe";
import { fundingFor } from "./funding";
import { matchingCapabilities } from "./list";
import { PRICING_VERSION } from "./pricing/pricing";
import { allCapabilities, getCapability } from "./registry";
import type { Viewer } from "./viewer";

/** A catalog answer that is ready to send: JSON text in UTF-8, and the strong ETag of exactly these bytes. */
export type Published = { body: Uint8Array; etag: string };

// The catalog depends only on this build's code and this process's settings, so an answer stays valid once it is made.
// Its parts are checked against their contracts when they are made, since nothing checks them later; what the list adds to a
// descriptor is not checked.
const ready = new Map<string, unknown>();

/** Projects have many combinations of connections, so the cache is emptied when it holds this many answers. */
const MOST_READY = 5_000;

function once<T>(name: string, make: () => T): T {
  if (!ready.has(name)) {
    if (ready.size >= MOST_READY) ready.clear();
    ready.set(name, make());
  }
  return ready.get(name) as T; // each name has only one maker
}

/** Returns a text as bytes, with its ETag. */
export function toPublished(json: string): Published {
  return { body: Buffer.from(json), etag: `"${sha256Hex(json).slice(0, 32)}"` };
}

const summaryText = (key: string) =>
  once(`summary ${key}`, () =>
    JSON.stringify(CapabilitySummary.parse(toCapabilitySummary(getCapability(key)))),
  );

/**
 * Returns a name for everything that the answers for a viewer depend on. Viewers with the same kinds of connections
 * share it.
 */
function nameOf({ signedIn, connections, mayLeave }: Seen): string {
  if (!connections) return `${signedIn}`;
  const each = connections.map(({ provider, models }) =>
    models === null ? provider : `${provider}=${models}`,
  );
  return `${signedIn} ${mayLeave} ${JSON.stringify(each.sort())}`;
}

type Seen = Pick<Viewer, "signedIn" | "connections" | "mayLeave">;

const descriptorText = (key: string, seen: Seen) =>
  once(`descriptor ${key} ${nameOf(seen)}`, () => JSON.stringify(descriptorOf(key, seen)));

const listedText = (key: string, seen: Seen) =>
  once(`listed ${key} ${nameOf(seen)}`, () =>
    JSON.stringify(toCapabilityItem(getCapability(key), descriptorOf(key, seen))),
  );

const descriptorOf = (key: string, { signedIn, connections, mayLeave }: Seen) =>
  CapabilityDescriptor.parse(describeCapability(getCapability(key), signedIn, connections, mayLeave));

function listText(keys: string[], view: string | undefined, seen: Seen): string {
  const items = keys.map((key) => (view === "summary" ? summaryText(key) : listedText(key, seen)));
  return `{"capabilities":[${items.join(",")}],"pricingVersion":${JSON.stringify(PRICING_VERSION)}}`;
}

/** Returns the answer of `list` as bytes. A search is composed of cached pieces and is not cached itself. */
export function publishedList(
  query: { q?: string | undefined; view?: string | undefined },
  seen: Seen,
): Published {
  const found = matchingCapabilities(query.q);
  const keys = found.map(({ key }) => key);
  const text = () => listText(keys, query.view, seen);
  if (found !== allCapabilities) return toPublished(text());
  return once(`list ${query.view === "summary"} ${nameOf(seen)}`, () => toPublished(text()));
}

/**
 * Returns the answer of `describeCapability` as bytes. For a caller of an organization, it also tells what would pay
 * now. Throws `UNKNOWN_CAPABILITY` for an unknown key.
 */
export async function publishedDescriptor(
  key: string,
  seen: Seen & Pick<Viewer, "organizationId">,
): Promise<Published> {
  const capability = getCapability(key);
  const whole = () =>
    once(`whole ${capability.key} ${nameOf(seen)}`, () => toPublished(descriptorText(capability.key, seen)));
  if (seen.organizationId === null) return whole();
  const descriptor = once(`object ${capability.key} ${nameOf(seen)}`, () =>
    descriptorOf(capability.key, seen),
  );
  const funding = await fundingFor(capability, descriptor.funding, seen.organizationId);
  if (funding === descriptor.funding) return whole();
  return toPublished(JSON.stringify({ ...descriptor, funding }));
}

/**
 * Returns the answer of `briefOf` as bytes, which is the same for every caller. Throws `UNKNOWN_CAPABILITY` for an
 * unknown key.
 */
export function publishedBrief(key: string): Published {
  const capability = getCapability(key);
  return once(`brief ${capability.key}`, () =>
    toPublished(JSON.stringify(CapabilityBrief.parse(briefOf(capability)))),
  );
}

/** Returns the answer of `executionTargets` as bytes. Throws `UNKNOWN_CAPABILITY` for an unknown key. */
export function publishedTargets(key: string, seen: Seen, view?: "brief"): Published {
  const capability = getCapability(key);
  return once(`targets ${view ?? ""} ${capability.key} ${nameOf(seen)}`, () => {
    const list = ExecutionTargetList.parse(executionTargets(capability, seen.connections, seen.mayLeave));
    return toPublished(JSON.stringify(view ? namesOf(list) : list));
  });
}

const namesOf = (list: ExecutionTargetList): ExecutionTargetNames => ({
  capabilityKey: list.capabilityKey,
  default: list.default.target,
  available: list.targets.filter(({ availability }) => availability.available).map(({ target }) => target),
});
