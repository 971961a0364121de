/** Paths of earlier versions: 410 Gone, with their replacement. They are not in OpenAPI, which describes only what works. */
export const retired: readonly { methods?: readonly string[]; path: `/${string}`; replacement: string }[] = [
  { methods: ["POST"], path: "/v1/jobs", replacement: "POST /v1/capabilities/{capability_key}/jobs" },
  { path: "/v1/invocations", replacement: "POST /v1/capabilities/{capability_key}/invoke" },
  { path: "/v1/invocations/{invocation_id}", replacement: "GET /v1/jobs/{job_id}" },
  { path: "/v1/invocations/{invocation_id}/receipt", replacement: "GET /v1/jobs/{job_id}/receipt" },
  { path: "/v1/invocations/{invocation_id}/cancel", replacement: "POST /v1/jobs/{job_id}/cancel" },
  { path: "/v1/invocations/{invocation_id}/events", replacement: "GET /v1/executions/{execution_id}/events" },
];
