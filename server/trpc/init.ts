import { initTRPC, TRPCError } from "@trpc/server";
import { ZodError } from "zod";
import type { Ctx, Principal } from "@/server/domain/ctx";
import { redactTokens } from "@/server/platform/crypto/redact-tokens";
import { ERRORS, Fault, ValidationFault, type ValidationIssue } from "@/server/platform/errors/errors";
import { outageFault, toValidationIssues } from "@/server/platform/errors/errors-wire";
import { isOutage } from "@/server/platform/errors/outage";

type TrpcCode = TRPCError["code"];

const CODE_OF_STATUS: Record<number, TrpcCode> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  402: "PAYMENT_REQUIRED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_SUPPORTED",
  408: "TIMEOUT",
  409: "CONFLICT",
  410: "NOT_FOUND",
  412: "PRECONDITION_FAILED",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  416: "BAD_REQUEST",
  422: "UNPROCESSABLE_CONTENT",
  428: "PRECONDITION_REQUIRED",
  429: "TOO_MANY_REQUESTS",
  501: "NOT_IMPLEMENTED",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
  504: "GATEWAY_TIMEOUT",
};

/** The tRPC code of an HTTP status; an unknown status is an internal error. */
export function codeOfStatus(status: number): TrpcCode {
  return CODE_OF_STATUS[status] ?? "INTERNAL_SERVER_ERROR";
}

/**
 * Returns a Fault, a ValidationFault or an outage of the database as a tRPC error; anything else is returned
 * unchanged.
 */
export function toTrpcError(error: TRPCError): TRPCError {
  const cause = isOutage(error.cause) ? outageFault(error.cause) : error.cause;
  if (cause instanceof Fault) {
    return new TRPCError({ code: codeOfStatus(cause.row.status), message: cause.message, cause });
  }
  if (cause instanceof ValidationFault) {
    return new TRPCError({ code: "UNPROCESSABLE_CONTENT", message: cause.message, cause });
  }
  return error;
}

const t = initTRPC.context<Ctx>().create({
  /** The parts of an error for the browser: our code, its details and the request id. Never a stack or an unknown message. */
  errorFormatter({ shape, error, ctx }) {
    const { cause } = error;
    const data = {
      code: shape.data.code,
      httpStatus: shape.data.httpStatus,
      path: shape.data.path,
      requestId: ctx?.requestId ?? null,
      fault: cause instanceof Fault ? { code: cause.code, details: cause.details } : null,
      issues: issuesOf(error),
    };
    return redactTokens({ ...shape, message: publicMessage(error), data });
  },
});

/** The validation errors by field, from the input's schema or from a verb. */
function issuesOf({ cause, code }: TRPCError): ValidationIssue[] | null {
  if (cause instanceof ValidationFault) return cause.issues;
  return cause instanceof ZodError && code === "BAD_REQUEST"
    ? toValidationIssues(cause.issues, "body")
    : null;
}

function publicMessage(error: TRPCError): string {
  const { cause } = error;
  if (cause instanceof Fault || cause instanceof ValidationFault) return cause.message;
  if (cause instanceof ZodError && error.code === "BAD_REQUEST") {
    return cause.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  }
  if (error.code === "INTERNAL_SERVER_ERROR")
    return "Something went wrong on our side. The error has been logged. Try again later.";
  return error.message;
}

/** Maps Faults to tRPC errors and logs unexpected errors, for every procedure. */
const faults = t.middleware(async ({ ctx, path, next }) => {
  const result = await next();
  if (result.ok) return result;
  const error = toTrpcError(result.error);
  if (error.code === "INTERNAL_SERVER_ERROR") {
    ctx.log.error({ err: error.cause ?? error, path, requestId: ctx.requestId }, "panel request failed");
  }
  throw error;
});

/** The context of a signed-in person. */
export type HumanCtx = Ctx & { principal: Extract<Principal, { kind: "human_session" }> };

export function isHuman(ctx: Ctx): ctx is HumanCtx {
  return ctx.principal.kind === "human_session";
}

const signedIn = t.middleware(({ ctx, next }) => {
  if (!isHuman(ctx)) {
    throw new TRPCError({
      code: codeOfStatus(ERRORS.AuthenticationFailed.status),
      message: "Sign in to continue.",
    });
  }
  return next({ ctx: { ...ctx, principal: ctx.principal } });
});

export const router = t.router;
/** A procedure for everyone, signed in or not: access depends on what the caller knows, such as a token. */
export const anybody = t.procedure.use(faults);
/** A procedure for signed-in people. The verb that it calls checks their permissions. */
export const human = t.procedure.use(faults).use(signedIn);
