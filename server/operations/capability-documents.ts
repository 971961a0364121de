import { etagOf, FOR_ALL_PAGES, published } from "@/server/api/answers/published";
import type { Endpoint } from "@/server/api/endpoint";
import { openapi } from "@/server/api/openapi/openapi";
import { JsonObject } from "@/server/contract/common";
import * as catalog from "@/server/domain/catalog";
import { invokeCapability, submitJob } from "./capabilities";
import { byAnybody, operations } from "./define";
import { uploadArtifact } from "./inputs";
import { getJob, getJobArtifact } from "./jobs";

const open = operations("Discovery", byAnybody);

type Capability = ReturnType<typeof catalog.getCapability>;

/** The operation with this capability's key in its path and this capability's input in its body. */
function narrowed(endpoint: Endpoint, { key, input, examples }: Capability): Endpoint {
  if (!endpoint.path.includes("{capability_key}")) return endpoint;
  const { params: _, dedicated: _all, documents, ...rest } = endpoint;
  const named = input.meta({ id: "CapabilityInput" });
  const [example] = examples;
  return {
    ...rest,
    path: endpoint.path.replace("{capability_key}", key) as Endpoint["path"], // the path keeps its leading slash
    ...(documents ? { documents: documents.extend({ input: named }).meta({ ...documents.meta() }) } : {}),
    ...(example ? { example: { input: example.input } } : {}),
  };
}

/** A download as a whole: ranges and validators are only in the API's document. */
const getWholeArtifact: Endpoint = { ...getJobArtifact, partly: [] };

/**
 * The operations that run one capability, as a job if it supports jobs and else synchronously, read the job, and upload
 * files if the input can name some.
 */
function neededFor({ modes, input }: Capability): Endpoint[] {
  const takesFiles = /artifact/i.test(JSON.stringify(catalog.publish(input, "input")));
  return [
    ...(modes.includes("job_async") ? [submitJob, getWholeArtifact] : [invokeCapability]),
    getJob,
    ...(takesFiles ? [uploadArtifact] : []),
  ];
}

const ready = new Map<string, string>();

/** The OpenAPI document of one capability, as text. Throws UNKNOWN_CAPABILITY for an unknown key. */
function documentOf(key: string): string {
  const capability = catalog.getCapability(key);
  const made =
    ready.get(capability.key) ??
    JSON.stringify(
      openapi(
        neededFor(capability).map((each) => narrowed(each, capability)),
        capability.title,
      ),
    );
  ready.set(capability.key, made);
  return made;
}

export const describeCapabilityApi = open.get("/v1/capabilities/{capability_key}/openapi.json", {
  summary: "Retrieve the OpenAPI document of one capability",
  description:
    "Everything that is needed to run this capability and nothing else: run it, read the job, download its files, with the capability's own input in the body.",
  output: JsonObject,
  partly: [304],
  http: async (_ctx, { capability_key, incoming }) => {
    const text = documentOf(capability_key);
    return published(incoming, text, { ...FOR_ALL_PAGES, etag: etagOf(text) });
  },
});
