import { getCapability, isCapability } from "@/server/domain/catalog";
import type { Json } from "@/server/step";

/*
 * The typed output of a blind job. Text and objects of a caller's own shape are the work itself and are shown whole. What
 * capabilities say of files is written by us around them: of that only what is named here, since how a file came to be
 * (the way its background was removed, the renderer) may tell who made it.
 */

/** What is said of files: their measures, and where they stand among others. */
const MEASURES = new Set([
  "images",
  "artifacts",
  "mesh",
  "views",
  "contactSheet",
  "sheet",
  "cells",
  "artifactId",
  "filename",
  "label",
  "downloadPath",
  "variantIndex",
  "view",
  "sliceCellId",
  "slotStatus",
  "row",
  "column",
  "rows",
  "columns",
  "source",
  "x",
  "y",
  "kind",
  "mediaType",
  "byteLength",
  "durationMs",
  "aspectRatio",
  "width",
  "height",
  "coverage",
  "meshes",
  "vertices",
  "triangles",
  "textured",
]);

/** Typed output as it may be shown before the comparison is judged. */
export function blindOutput(capabilityKey: string, output: Json): Json {
  if (output === null || !isCapability(capabilityKey)) return null;
  const { outputKind } = getCapability(capabilityKey);
  if (outputKind === "artifact") return measuresOf(output);
  return outputKind === "text" ? wordsOf(output) : output;
}

function measuresOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(measuresOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, Json][] =>
      MEASURES.has(name) ? [[name, measuresOf(each)]] : [],
    ),
  );
}

/** What was written, and the tools that were called: their ids have the form of the vendor that gave them. */
function wordsOf(output: Json): Json {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return output;
  const { content, role, toolCalls } = output;
  return {
    content: content ?? "",
    role: role ?? "assistant",
    ...(Array.isArray(toolCalls)
      ? {
          toolCalls: toolCalls.map((call, place) => {
            const { name, arguments: given } = call as { name: Json; arguments: Json }; // as their schema has them
            return { id: `call-${place + 1}`, name, arguments: given };
          }),
        }
      : {}),
  };
}
