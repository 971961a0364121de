import { expect, test } from "vitest";
import type { Capability } from "@/server/capabilities/define";
import { getCapability } from "@/server/domain/catalog";
import { ERRORS } from "@/server/platform/errors/errors";
import { OutOfTime } from "@/server/platform/threads/threads";
import { makeProject, rowsOf } from "@/testing/world";
import * as jobs from "../index";
import type { JobRow } from "../rows";
import { runHere } from "./run-here";

test("work that runs out of time fails as ServiceUnavailable, which is a 503 and may be retried", async () => {
  const { ctx } = await makeProject();
  const input = { expression: "1 + 1" };
  const { executionId } = await jobs.invoke(ctx, "compute.evaluate.v1", { input });
  const { job } = await rowsOf(executionId);
  const evaluate = getCapability("compute.evaluate.v1");
  const late = {
    ...evaluate,
    execute: {
      ...evaluate.execute,
      run: () => Promise.reject(new OutOfTime("It took too long here.")),
    },
  } as Capability;
  const { ending } = await runHere(
    ctx,
    { capability: late, input, job: job as JobRow },
    new AbortController().signal,
  );
  expect(ending).toMatchObject({ state: "failed", code: "ServiceUnavailable" });
  expect(ERRORS.ServiceUnavailable).toMatchObject({ status: 503, retryable: true });
});
