import { sha256Hex } from "@/server/canonical";
import { CapabilityDescriptor, CapabilitySummary, ExecutionTargetList } from "@/server/contract/capabilities";
import { describeCapability, executionTargets, toSummary } from "./describe";
import { fundingFor } from "./funding";
import { matching } from "./list";
import { PRICING_VERSION } from "./pricing";
import { allCapabilities, getCapability } from "./registry";

/** A catalog answer ready to be sent: JSON text in UTF-8, and the strong tag of exactly these bytes. */
export type Published = { body: Uint8Array; etag: string };

// The catalog is made of this build's code and this process's settings, so what was made once stays true. Each text is
// checked against its contract when it is made, since nobody looks at it again.
const ready = new Map<string, unknown>();

function once<T>(name: string, make: () => T): T {
  if (!ready.has(name)) ready.set(name, make());
  return ready.get(name) as T; // each name has one maker
}

function toPublished(json: string): Published {
  return { body: Buffer.from(json), etag: `"${sha256Hex(json).slice(0, 32)}"` };
}

const summaryText = (key: string) =>
  once(`summary ${key}`, () => JSON.stringify(CapabilitySummary.parse(toSummary(getCapability(key)))));

const descriptorText = (key: string, signedIn: boolean) =>
  once(`descriptor ${key} ${signedIn}`, () =>
    JSON.stringify(CapabilityDescriptor.parse(describeCapability(getCapability(key), signedIn))),
  );

function listText(keys: string[], view: string | undefined, signedIn: boolean): string {
  const items = keys.map((key) => (view === "summary" ? summaryText(key) : descriptorText(key, signedIn)));
  return `{"capabilities":[${items.join(",")}],"pricingVersion":${JSON.stringify(PRICING_VERSION)}}`;
}

/** What `list` answers, as bytes. A search is put together from ready pieces. */
export function publishedList(
  query: { q?: string | undefined; view?: string | undefined },
  signedIn: boolean,
): Published {
  const isSummary = query.view === "summary";
  const found = matching(query.q);
  const text = () =>
    listText(
      found.map(({ key }) => key),
      query.view,
      signedIn,
    );
  if (found !== allCapabilities) return toPublished(text());
  return once(`list ${isSummary} ${signedIn}`, () => toPublished(text()));
}

/** What `describeCapability` answers, as bytes. UNKNOWN_CAPABILITY for a key that is not there. */
export function publishedDescriptor(key: string, signedIn: boolean): Published {
  const capability = getCapability(key);
  return once(`whole ${capability.key} ${signedIn}`, () =>
    toPublished(descriptorText(capability.key, signedIn)),
  );
}

/** The same for a caller of an organization: with what would pay for it now. */
export async function publishedDescriptorFor(key: string, organizationId: string): Promise<Published> {
  const capability = getCapability(key);
  const descriptor = once(`object ${capability.key}`, () =>
    CapabilityDescriptor.parse(describeCapability(capability, true)),
  );
  const funding = await fundingFor(capability, descriptor.funding, organizationId);
  if (funding === descriptor.funding) return publishedDescriptor(key, true);
  return toPublished(JSON.stringify({ ...descriptor, funding }));
}

/** What `executionTargets` answers, as bytes. UNKNOWN_CAPABILITY for a key that is not there. */
export function publishedTargets(key: string): Published {
  const capability = getCapability(key);
  return once(`targets ${capability.key}`, () =>
    toPublished(JSON.stringify(ExecutionTargetList.parse(executionTargets(capability)))),
  );
}
