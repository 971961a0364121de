"use client";
import { useMemo, useState } from "react";
import { focusWrong } from "@/components/form-failure";
import type { CapabilityDescriptor } from "@/server/contract/capabilities";
import { type Input, schemaOf } from "./input-form";
import { isFileMissing, missingIn } from "./missing";

/** What the input of a form lacks: said at its fields once somebody has tried to send it, and before that does not leave. */
export function useMissing(
  input: Input,
  capability: CapabilityDescriptor,
  /** Fields that everybody has otherwise: these need nothing. */
  elsewhere: readonly string[] = [],
) {
  const [wasTried, setTried] = useState(false);
  const all = useMemo(() => missingIn(input, schemaOf(capability)), [input, capability]);
  const missing = all.filter(({ loc }) => !elsewhere.includes(String(loc[0])));
  return {
    shown: wasTried ? missing : [],
    isFile: isFileMissing(missing),
    /** May it be sent? Else the first field that is empty has the focus. */
    isWhole(form: HTMLFormElement): boolean {
      if (missing.length === 0) return true;
      setTried(true);
      requestAnimationFrame(() => focusWrong(form)); // once they are drawn as wrong
      return false;
    },
  };
}
