import type { z } from "zod";
import { AdapterUploadFields } from "@/server/contract/adapters";
import { fieldText } from "@/server/domain/inputs";
import { refuseAt } from "../rows";

type UploadFields = z.output<typeof AdapterUploadFields>;
type Name = keyof UploadFields;

const LISTS: readonly Name[] = ["compatibleModels", "triggerWords"];
const isName = (name: string): name is Name => Object.hasOwn(AdapterUploadFields.shape, name);
const SoFar = AdapterUploadFields.partial();
const PLAIN_NUMBER = /^\d{1,6}(?:\.\d{1,12})?$/;

/**
 * Gathers the fields of an upload as they arrive. Refuses an unknown or repeated field at once; values are
 * checked by `soFar` and `fields`.
 */
export function uploadForm() {
  const given: Partial<Record<Name, unknown>> = {};

  return {
    take(name: string | null, value: Buffer): void {
      if (name === null) refuseAt(["body"], "A part of the multipart body has no name.", "multipart_invalid");
      if (!isName(name))
        refuseAt(
          ["body", name.slice(0, 100)],
          "Unknown field. Remove it or check its spelling.",
          "extra_forbidden",
        );
      const text = fieldText(name, value);
      if (LISTS.includes(name)) {
        const words = text.split(",").filter((word) => word.trim() !== "");
        given[name] = [...((given[name] as string[] | undefined) ?? []), ...words]; // lists are written only here
        return;
      }
      if (Object.hasOwn(given, name)) refuseAt(["body", name], "Send this field only once.", "repeated");
      given[name] = fieldValue(name, text.trim());
    },

    /** The fields that arrived before the file; refuses an invalid one without waiting for the rest. */
    soFar: () => SoFar.parse(given, REPORT),

    /** All fields, when the body has ended. */
    fields: (): UploadFields => AdapterUploadFields.parse(given, REPORT),
  };
}

/**
 * Including the input lets a missing field be distinguished from a wrong one. The values are never sent back.
 */
const REPORT = { reportInput: true } as const;

/** An empty field counts as absent, except `displayName`. */
function fieldValue(name: Name, text: string): unknown {
  if (text === "") return name === "displayName" ? "" : undefined;
  if (name !== "recommendedWeight") return text;
  return PLAIN_NUMBER.test(text) ? Number(text) : text;
}
