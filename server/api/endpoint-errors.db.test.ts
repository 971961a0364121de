import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Fault, fail, ValidationFault } from "@/server/platform/errors/errors";
import { errorHead } from "@/server/platform/errors/errors-wire";
import { incoming, jsonOf } from "@/testing/requests";
import { respond } from "./endpoint";
import { throwing } from "./endpoint.fixture";

describe("errors on the wire", () => {
  test("an error has the status and the advice of its code, and the message and details that were thrown", async () => {
    const answer = await respond(
      throwing(() => fail("IdempotencyConflict", "Taken.", { jobId: "wfr_1" })),
      incoming(),
    );
    expect(answer.status).toBe(409);
    expect(jsonOf(answer)).toEqual({
      ...errorHead(
        "IdempotencyConflict",
        "Taken. Send the original body to get its result. Use a new key only to run this as a separate execution.",
        answer.headers["x-request-id"] ?? "",
      ),
      detail: {
        code: "IdempotencyConflict",
        message:
          "Taken. Send the original body to get its result. Use a new key only to run this as a separate execution.",
        details: { jobId: "wfr_1" },
      },
      jobId: "wfr_1",
    });
  });

  test("an error without details has no details member", async () => {
    const answer = await respond(
      throwing(() => fail("NotFound", "No.")),
      incoming(),
    );
    const message = "No. Check the id or name, and that you have access to it.";
    expect(jsonOf(answer)).toEqual({
      ...errorHead("NotFound", message, answer.headers["x-request-id"] ?? ""),
      detail: { code: "NotFound", message },
    });
  });

  test("an error with inline fields has them beside the code", async () => {
    const details = {
      path: "execution.x",
      didYouMean: null,
      didYouMeanPath: null,
      supported: ["a"],
      retryable: false as const,
    };
    const answer = await respond(
      throwing(() => fail("UNKNOWN_EXECUTION_FIELD", "Unknown.", details)),
      incoming(),
    );
    expect(jsonOf(answer).detail).toEqual({
      code: "UNKNOWN_EXECUTION_FIELD",
      message: "Unknown.",
      ...details,
    });
  });

  test("an endpoint with envelopeErrors repeats code, message and details at the top level", async () => {
    const answer = await respond(
      throwing(() => fail("IdempotencyConflict", "Taken.", { jobId: "wfr_1" }), true),
      incoming(),
    );
    expect(jsonOf(answer)).toEqual({
      detail: {
        code: "IdempotencyConflict",
        message:
          "Taken. Send the original body to get its result. Use a new key only to run this as a separate execution.",
        details: { jobId: "wfr_1" },
      },
      ...errorHead(
        "IdempotencyConflict",
        "Taken. Send the original body to get its result. Use a new key only to run this as a separate execution.",
        answer.headers["x-request-id"] ?? "",
      ),
      details: { jobId: "wfr_1" },
      jobId: "wfr_1",
    });
  });

  test("an error's own headers are sent", async () => {
    const gone = new Fault("Gone", "Gone.", {}, { headers: { "x-why": "expired" } });
    const answer = await respond(
      throwing(() => {
        throw gone;
      }),
      incoming(),
    );
    expect(answer).toMatchObject({ status: 410, headers: { "x-why": "expired" } });
  });

  test("validation errors that `run` throws are a 422 list", async () => {
    const issue = { loc: ["body", "x"], msg: "No.", type: "value_error" };
    const answer = await respond(
      throwing(() => {
        throw new ValidationFault([issue]);
      }),
      incoming(),
    );
    expect(answer.status).toBe(422);
    expect(jsonOf(answer)).toEqual({
      ...errorHead("InvalidInput", "x: No.", answer.headers["x-request-id"] ?? ""),
      detail: [issue],
    });
    const fromSchema = await respond(
      throwing(() => {
        z.object({ a: z.string() }).parse({});
        throw new Error();
      }),
      incoming(),
    );
    expect(jsonOf(fromSchema).detail).toEqual([
      { loc: ["body", "a"], msg: "Field required", type: "missing" },
    ]);
  });

  test("an unexpected error is an opaque 500 with the request id", async () => {
    const answer = await respond(
      throwing(() => {
        throw new Error("password is hunter2");
      }),
      incoming(),
    );
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("hunter2");
    expect(jsonOf(answer).detail).toMatchObject({
      code: "InternalFailure",
      details: { requestId: answer.headers["x-request-id"] },
    });
  });
});
