import { Fault, ValidationFault } from "@/server/errors";

/**
 * Runs a handler; a refusal it throws becomes its answer, with `more` for a client that needs it. Anything else goes on to
 * Next's own handling.
 */
export async function answered(handler: () => Promise<Response>, more: object = {}): Promise<Response> {
  try {
    return await handler();
  } catch (error) {
    if (error instanceof ValidationFault)
      return Response.json(
        { detail: error.issues, ...more },
        { status: 422, headers: { "cache-control": "no-store" } },
      );
    if (!(error instanceof Fault)) throw error;
    const { code, message, details } = error;
    return Response.json(
      { detail: { code, message, details }, ...more },
      { status: error.row.status, headers: { ...error.headers, "cache-control": "no-store" } },
    );
  }
}
