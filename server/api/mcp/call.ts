import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { Fault, fail } from "@/server/platform/errors/errors";
import { type ErrorHead, toWire } from "@/server/platform/errors/errors-wire";
import { turn } from "@/server/platform/time/turn";
import { parsePart } from "../input";
import type { Io, Shown, Tool } from "./define";
import { withoutNulls } from "./schemas";
import { discoveryTools } from "./tools/discovery";
import { evidenceTools } from "./tools/evidence";
import { workTools } from "./tools/work";

/** Every tool. No tool pays or makes a person's decision. */
export const tools: readonly Tool[] = [...discoveryTools, ...workTools, ...evidenceTools];
const byName = new Map(tools.map((each) => [each.name, each]));

type Result = {
  content: ({ type: "text"; text: string } | Shown)[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
};

/** Runs a tool. An error is returned as a result with our code, message and details, so that a model can act on it. */
export async function callTool(
  ctx: Ctx,
  name: string,
  given: unknown,
  io: Omit<Io, "show">,
): Promise<Result> {
  const shown: Shown[] = [];
  try {
    const found = byName.get(name);
    if (!found)
      fail("NotFound", `The tool ${name.slice(0, 64)} does not exist. List the tools with tools/list.`);
    if (found.scope) access.authorize(ctx, found.scope);
    const input = parsePart(found.input, withoutNulls(given ?? {}), "body");
    const output = await found.run(ctx, input, { ...io, show: (each) => shown.push(each) });
    // A job includes its own input, which may be large: other requests run between the passes over it.
    await turn();
    const text = JSON.stringify(output);
    await turn();
    const structuredContent = JSON.parse(text);
    await turn();
    return { content: [{ type: "text", text }, ...shown], structuredContent };
  } catch (error) {
    const { status, body } = toWire(error, ctx.requestId);
    if (status === 500 || (status === 503 && !(error instanceof Fault)))
      ctx.log.error({ err: error, tool: name }, "a tool failed");
    const { detail, requestId, docsUrl } = body as ErrorHead & { detail: object }; // every error has them
    const shown = Array.isArray(detail)
      ? {
          code: "InvalidInput",
          message: "The arguments of the tool are invalid. See details.issues.",
          details: { issues: detail },
        }
      : detail;
    const text = JSON.stringify({ ...shown, requestId, docsUrl });
    return { content: [{ type: "text", text }], isError: true };
  }
}
