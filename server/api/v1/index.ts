import type { Endpoint } from "@/server/api/endpoint";
import * as capabilities from "./capabilities";
import * as jobs from "./jobs";

/** Every endpoint of /v1: what the router serves, OpenAPI describes and the laws check. */
export const endpoints: Endpoint[] = [...Object.values(capabilities), ...Object.values(jobs)];
